#include "cli/serve/serve_port.h"

#include "cli/command.h"
#include "cli/options/options.h"
#include "cli/serve/serve.h"

#include <stdlib.h>
#include <string.h>

int serve_port_take(const struct option_spec *option, const struct command *self, void *target,
                    const char *value)
{
    struct serve_options *serve = target;
    unsigned long number = strtoul(value, NULL, 10);
    if (!*value || strlen(value) > 5 || strspn(value, "0123456789") != strlen(value) ||
        number == 0 || number > UINT16_MAX)
        return command_usage_error(self, "a port is a number from 1 to 65535, not `%s`.", value);
    serve->port = (uint16_t)number;
    return 0;
}
