/* The files that belong to magic-trace and that it loads into other programs.
 *
 * In the build tree they are where Meson put them, below the binary's directory; installed they are
 * in LIBDIR/magic-trace. Called by the engines, `hardware-check` and
 * recording/perf_script/perf_script.c.
 */
#ifndef MAGIC_TRACE_BASE_OWN_FILE_H
#define MAGIC_TRACE_BASE_OWN_FILE_H

/* The path of the running binary; the caller frees. NULL and errno if the kernel does not say. */
char *own_file_binary(void);

/* The absolute path of `name`, which the build puts into the directory `build_folder`, relative to
 * the binary's. The caller frees; NULL if it is in neither place. */
char *own_file_find(const char *name, const char *build_folder);

/* The directory in which it is installed if it stands where it was configured; for messages. */
extern const char own_file_installed_folder[];

#endif
