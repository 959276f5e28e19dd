/* The number of a port, as an option's value. */
#ifndef MAGIC_TRACE_CLI_SERVE_SERVE_PORT_H
#define MAGIC_TRACE_CLI_SERVE_SERVE_PORT_H

#include "cli/command.h"

#include <stdint.h>

/* 0, or the exit status after a message. */
int serve_port_parse(const struct command *self, const char *value, uint16_t *port);

#endif
