#include "stack/go_runtime.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name;
    enum go_role role;
} functions[] = {
    {"runtime.gogo", GO_ROLE_GOGO},          {"runtime.mcall", GO_ROLE_WAIT},
    {"runtime.morestack", GO_ROLE_WAIT},     {"runtime.mstart1", GO_ROLE_WAIT},
    {"runtime.newstack", GO_ROLE_NEWSTACK},  {"runtime.recovery", GO_ROLE_RECOVERY},
    {"runtime.goexit0", GO_ROLE_GOEXIT},     {"runtime.sigpanic", GO_ROLE_INJECTED},
    {"runtime.sigpanic0", GO_ROLE_INJECTED},
};

enum go_role go_role_of(const char *function)
{
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        size_t length = strlen(functions[i].name);
        const char *suffix = function + length;
        if (strncmp(function, functions[i].name, length) == 0 &&
            (*suffix == '\0' || strcmp(suffix, ".abi0") == 0))
            return functions[i].role;
    }
    return GO_ROLE_NONE;
}
