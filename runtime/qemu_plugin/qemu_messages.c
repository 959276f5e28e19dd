#include "runtime/qemu_plugin/qemu_messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The stream's cookie. A pointer to a function is no pointer to an object. */
struct listener {
    void (*killed)(uint32_t signal);
};

static ssize_t take_message(void *cookie, const char *text, size_t size)
{
    static const char killing[] = "qemu: uncaught target signal ";
    const struct listener *listener = cookie;
    char number[8] = "";
    size_t length = strlen(killing);
    if (size > length && memcmp(text, killing, length) == 0) {
        size_t rest = size - length;
        memcpy(number, text + length, rest < sizeof number ? rest : sizeof number - 1);
        listener->killed((uint32_t)strtoul(number, NULL, 10));
    }
    return (ssize_t)size;
}

void qemu_messages_take_over(void (*killed)(uint32_t signal))
{
    struct listener *listener = malloc(sizeof *listener);
    if (!listener)
        return;
    listener->killed = killed;
    /* A stream of our own takes no descriptor. */
    FILE *ours = fopencookie(listener, "w", (cookie_io_functions_t){.write = take_message});
    if (!ours) {
        free(listener);
        return;
    }
    setvbuf(ours, NULL, _IONBF, 0); /* each message comes as one, and at once */
    stderr = ours;
}
