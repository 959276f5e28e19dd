#include "engine/qemu/emulator.h"

#include "base/array.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/own_file.h"
#include "engine/engine.h"
#include "engine/qemu/environment.h"
#include "engine/qemu/qemu_arguments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static const char emulator[] = "qemu-x86_64";
static const char plugin_name[] = "magic-trace-qemu.so";
static const char plugin_build_folder[] = "runtime/qemu_plugin";

static bool find_emulator(struct qemu *qemu, struct error *error)
{
    char *candidate = file_find_program(emulator);
    char *real = candidate ? realpath(candidate, NULL) : NULL;
    bool found = real && strlen(real) < sizeof qemu->path;
    if (found)
        strcpy(qemu->path, real);
    free(real);
    free(candidate);
    const char *path = getenv("PATH");
    return found ||
           error_set(error, ERROR_NOT_FOUND,
                     "cannot find %s, which the qemu engine needs: looked in %s. Install it with "
                     "apt-get install qemu-user (or your distribution's package of that name).",
                     emulator, path ? path : "/bin:/usr/bin (PATH is not set)");
}

/* Takes the plugin's path, which may be NULL. */
static bool take_plugin(struct qemu *qemu, char *path)
{
    bool taken = path && strlen(path) < sizeof qemu->plugin;
    if (taken)
        strcpy(qemu->plugin, path);
    free(path);
    return taken;
}

static bool find_plugin(struct qemu *qemu, struct error *error)
{
    const char *chosen = getenv("MAGIC_TRACE_QEMU_PLUGIN");
    if (chosen)
        return (access(chosen, R_OK) == 0 && take_plugin(qemu, realpath(chosen, NULL))) ||
               error_set(
                   error, ERROR_NOT_FOUND,
                   "cannot read the plugin %s that MAGIC_TRACE_QEMU_PLUGIN names. Correct it or "
                   "unset it.",
                   chosen);
    if (take_plugin(qemu, own_file_find(plugin_name, plugin_build_folder)))
        return true;
    return error_set(
        error, ERROR_NOT_FOUND,
        "cannot find %s, the part of magic-trace that runs inside qemu: looked in %s and "
        "beside the program. Unpack it with `magic-trace install`, and call what that installs.",
        plugin_name, own_file_installed_folder);
}

bool qemu_find(struct qemu *qemu, struct error *error)
{
    struct utsname machine;
    if (uname(&machine) != 0 || strcmp(machine.machine, "x86_64") != 0)
        return error_set(error, ERROR_UNSUPPORTED,
                         "the qemu engine needs an x86-64 machine; this one is %s",
                         machine.machine);
    *qemu = (struct qemu){0};
    return find_emulator(qemu, error) && find_plugin(qemu, error);
}

/* What a command prints, cut off at `size`. The words are given to the shell in single quotes, in
 * which only the quote itself is special. */
static bool output_of(const char *path, const char *option, char *output, size_t size)
{
    if (strchr(path, '\''))
        return false;
    char *command = memory_format("'%s' %s 2>&1", path, option);
    FILE *stream = popen(command, "re");
    free(command);
    if (!stream)
        return false;
    size_t used = fread(output, 1, size - 1, stream);
    output[used] = 0;
    /* Reading to the end keeps qemu from a broken pipe, which would look like a failure. */
    char rest[256];
    while (fread(rest, 1, sizeof rest, stream) > 0)
        ;
    return pclose(stream) == 0;
}

bool qemu_check(const struct qemu *qemu, char *version, size_t version_size, struct error *error)
{
    char output[8192];
    static const char before_version[] = " version ";
    const char *found = output_of(qemu->path, "--version", output, sizeof output)
                            ? strstr(output, before_version)
                            : NULL;
    if (!found)
        return error_set(error, ERROR_UNSUPPORTED,
                         "%s --version does not work. Install it again with apt-get install "
                         "--reinstall qemu-user.",
                         qemu->path);
    found += sizeof before_version - 1;
    snprintf(version, version_size, "%.*s", (int)strcspn(found, " \n"), found);
    /* The usage text ends with status 0 in qemu 7.2 and 1 in older ones: only the text counts. */
    output_of(qemu->path, "-h", output, sizeof output);
    if (!strstr(output, "QEMU_PLUGIN"))
        return error_set(error, ERROR_UNSUPPORTED,
                         "%s (version %s) was built without plugins, which the qemu engine needs. "
                         "Put one that has them first in PATH, as Debian 12's qemu-user is; Debian "
                         "13's has none.",
                         qemu->path, version);
    return true;
}

static char *quoted(const char *text)
{
    char *copy = memory_allocate(qemu_arguments_quoted_size(text));
    qemu_words_put_quoted(copy, text);
    return copy;
}

char *qemu_plugin_argument(const struct qemu_options *options, const char *directory)
{
    char *plugin = quoted(options->plugin);
    char *quoted_directory = quoted(directory);
    char *argument = memory_format("file=%s,dir=%s", plugin, quoted_directory);
    free(plugin);
    free(quoted_directory);
    return argument;
}

static void add(struct array *arguments, char *owned)
{
    *(char **)array_add(arguments) = owned;
}

static void add_copy(struct array *arguments, const char *text)
{
    add(arguments, memory_copy_string(text));
}

char **qemu_arguments(const struct qemu_options *options, const char *directory,
                      const struct program *program)
{
    struct array arguments = array_of(sizeof(char *));
    add_copy(&arguments, options->qemu);
    add_copy(&arguments, "-L");
    add_copy(&arguments, "/");
    add_copy(&arguments, "-s");
    add(&arguments, memory_format("%llu", qemu_words_stack_size()));
    if (options->clock == RECORD_CLOCK_INSTRUCTIONS) {
        add_copy(&arguments, "-seed");
        add_copy(&arguments, "1");
    }
    add_copy(&arguments, "-plugin");
    add(&arguments, qemu_plugin_argument(options, directory));
    add_copy(&arguments, "-0");
    add_copy(&arguments, program->arguments[0]);
    add_copy(&arguments, program->path);
    for (char **argument = program->arguments + 1; *argument; argument++)
        add_copy(&arguments, *argument);
    array_add(&arguments);
    return arguments.elements;
}

void qemu_free_arguments(char **arguments)
{
    for (char **argument = arguments; argument && *argument; argument++)
        free(*argument);
    free(arguments);
}

char **qemu_environment(void)
{
    struct array variables = array_of(sizeof(char *));
    for (char **variable = environ; *variable; variable++)
        add(&variables, *variable);
    environment_reverse(variables.elements, variables.count);
    array_add(&variables);
    return variables.elements;
}
