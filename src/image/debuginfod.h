/* Fetches programs and libraries that this machine lacks from a debuginfod server, by build id.
 *
 * Only if the user has set servers in DEBUGINFOD_URLS; otherwise nothing is sent. The client
 * library is loaded when it is needed; a warning reports that it is missing. It stores fetched
 * files in its own cache (~/.cache/debuginfod_client).
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
