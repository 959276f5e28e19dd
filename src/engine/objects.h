/* The files that a program's code comes from: its executable and the libraries it needs.
 *
 * Called by the command line, to look for triggers. Libraries that a program opens by itself while
 * it runs (dlopen) are known of a running process only.
 */
#ifndef MAGIC_TRACE_ENGINE_OBJECTS_H
#define MAGIC_TRACE_ENGINE_OBJECTS_H

#include "base/array.h"
#include "base/error.h"

#include <sys/types.h>

struct objects {
    /* of char *, owned: the executable first; of a process that has another root directory as process_file_path gives them */
    struct array paths;
};

/* Of the program that a command line would run (a script: of its interpreter). The dynamic loader
 * is asked (`ld.so --list`, as ldd does), which runs none of the program's own code. */
bool objects_of_command(struct objects *objects, char *const *command, struct error *error);

/* Of a running process. */
bool objects_of_process(struct objects *objects, pid_t pid, struct error *error);

void objects_free(struct objects *objects);

#endif
