/* A folder for the files of one test program. */
#ifndef MAGIC_TRACE_TESTS_TEMPORARY_FOLDER_H
#define MAGIC_TRACE_TESTS_TEMPORARY_FOLDER_H

/* For cmocka_run_group_tests: makes the folder, and removes it with all that is in it. */
int temporary_folder_make(void **state);
int temporary_folder_remove(void **state);

/* The path of `name` in the folder; the caller frees. */
char *temporary_folder_path(const char *name);

#endif
