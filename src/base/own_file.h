/* The files that belong to magic-trace and lie beside it: what it loads into other programs.
 *
 * In the build tree they are where Meson put them, below the binary's folder; installed they are in
 * LIBDIR/magic-trace. Asked by the engines and by recording/perf_script/perf_script.c.
 */
#ifndef MAGIC_TRACE_BASE_OWN_FILE_H
#define MAGIC_TRACE_BASE_OWN_FILE_H

/* The path of the binary that runs; the caller frees. NULL and errno when the kernel does not say.
 */
char *own_file_binary(void);

/* The absolute path of `name`, which the build puts into `build_folder` (relative to the binary's).
 * The caller frees; NULL when it is nowhere. */
char *own_file_find(const char *name, const char *build_folder);

/* Where it is when magic-trace was installed as it was configured; for messages. */
extern const char own_file_installed_folder[];

#endif
