/* The parameters of a request: `?track=3&from=0&to=1e6`.
 *
 * Every function takes a parameter's name and returns its value, or an error for the client. Values
 * are checked against their bounds here, so the answers need not check them.
 */
#ifndef MAGIC_TRACE_SERVER_HTTP_PARAMETERS_H
#define MAGIC_TRACE_SERVER_HTTP_PARAMETERS_H

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PARAMETERS_MAX = 32 };

struct parameter {
    const char *name, *value; /* unescaped */
};

struct parameters {
    struct parameter entries[PARAMETERS_MAX];
    size_t count;
};

/* False when there are too many. */
bool parameters_add(struct parameters *parameters, const char *name, const char *value);

/* NULL: not given. */
const char *parameters_find(const struct parameters *parameters, const char *name);

/* A whole number from `least` to `most`; `standard` when it is not given. */
bool parameter_number(const struct parameters *parameters, const char *name, uint64_t standard,
                      uint64_t least, uint64_t most, uint64_t *value, struct error *error);

/* The same, but it has to be given. */
bool parameter_required(const struct parameters *parameters, const char *name, uint64_t most,
                        uint64_t *value, struct error *error);

/* A moment in ns. A fraction is cut off, what lies before 0 is 0, what is beyond `most` is `most`:
 * the page computes moments from pixels. */
bool parameter_time(const struct parameters *parameters, const char *name, uint64_t standard,
                    uint64_t most, uint64_t *value, struct error *error);

/* A number from 0 to 1. */
bool parameter_share(const struct parameters *parameters, const char *name, double standard,
                     double *value, struct error *error);

/* Which of `words` (ended by NULL) it is; the first when it is not given. */
bool parameter_choice(const struct parameters *parameters, const char *name,
                      const char *const *words, size_t *choice, struct error *error);

/* Appends the numbers of a list like `0,3,17` (uint32_t), each below `bound`. Not given: none. */
bool parameter_list(const struct parameters *parameters, const char *name, uint32_t bound,
                    struct array *numbers, struct error *error);

#endif
