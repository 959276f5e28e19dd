/* Fetches programs and libraries that are not here from a debuginfod server, by build id.
 *
 * Only if the person has named servers in DEBUGINFOD_URLS; nothing is sent anywhere otherwise. The
 * client library is loaded when it is needed; without it there is a warning. What it fetches it
 * keeps in its own cache (~/.cache/debuginfod_client).
 */
#ifndef MAGIC_TRACE_IMAGE_DEBUGINFOD_H
#define MAGIC_TRACE_IMAGE_DEBUGINFOD_H

#include "image/build_id.h"

struct debuginfod; /* a session with the servers */

/* NULL when no server is named, or the library is missing. */
struct debuginfod *debuginfod_open(void);
void debuginfod_close(struct debuginfod *session);

/* The path of the file with this id, owned by the caller. NULL when the servers do not have it.
 * Says that it waits for `name`. A server that is silent for 15 seconds is not asked again. */
char *debuginfod_fetch(struct debuginfod *session, const struct build_id *id, const char *name);

#endif
