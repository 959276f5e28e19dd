#include "engine/qemu/environment.h"

void environment_reverse(char **environment, size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        char *variable = environment[i];
        environment[i] = environment[count - 1 - i];
        environment[count - 1 - i] = variable;
    }
}
