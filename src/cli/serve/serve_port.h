/* The number of a port, as an option's value: an option_apply on a struct serve_options.
 */
#ifndef MAGIC_TRACE_CLI_SERVE_SERVE_PORT_H
#define MAGIC_TRACE_CLI_SERVE_SERVE_PORT_H

#include "cli/options/options.h"

option_apply serve_port_take;

#endif
