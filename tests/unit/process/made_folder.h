/* A folder with the files of one test: a /proc or a sysfs of its own, or a recording. What does not
 * work ends the test program. */
#ifndef MAGIC_TRACE_TESTS_MADE_FOLDER_H
#define MAGIC_TRACE_TESTS_MADE_FOLDER_H

#include <stddef.h>

struct made_folder {
    char path[48];
};

void made_folder_begin(struct made_folder *folder);

/* Removes it with all that is in it. */
void made_folder_end(const struct made_folder *folder);

/* The path of `name` in the folder; the caller frees. */
char *made_folder_path(const struct made_folder *folder, const char *name);

/* Makes the folder `name`, or writes that file, with the folders that it needs. */
void made_folder_make(const struct made_folder *folder, const char *name);
void made_folder_put(const struct made_folder *folder, const char *name, const char *text);
void made_folder_put_bytes(const struct made_folder *folder, const char *name, const void *bytes,
                           size_t size);

#endif
