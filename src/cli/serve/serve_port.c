#include "cli/serve/serve_port.h"

#include <stdlib.h>
#include <string.h>

int serve_port_parse(const struct command *self, const char *value, uint16_t *port)
{
    unsigned long number = strtoul(value, NULL, 10);
    if (!*value || strlen(value) > 5 || strspn(value, "0123456789") != strlen(value) ||
        number == 0 || number > UINT16_MAX)
        return command_usage_error(self, "a port is a number from 1 to 65535, not `%s`.", value);
    *port = (uint16_t)number;
    return 0;
}
