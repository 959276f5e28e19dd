/* perf's store of the programs and libraries that it recorded: ~/.debug, by build id.
 *
 * perf record copies there what ran, also the kernel's own [vdso], which is in no file
 * (tools/perf/util/build-id.c). The folder is that of $PERF_BUILDID_DIR, or ~/.debug.
 */
#ifndef MAGIC_TRACE_IMAGE_BUILD_ID_CACHE_H
#define MAGIC_TRACE_IMAGE_BUILD_ID_CACHE_H

#include "image/build_id.h"

/* The path of the object with this id, owned by the caller; NULL when it is not there. */
char *build_id_cache_find(const struct build_id *id);

#endif
