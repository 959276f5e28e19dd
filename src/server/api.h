/* The queries of the page (docs/viewer.md section 3): from a name and its parameters to an answer.
 *
 * Called by viewer.c for everything below /api/; may be called from many threads at once.
 */
#ifndef MAGIC_TRACE_SERVER_API_H
#define MAGIC_TRACE_SERVER_API_H

#include "counts/source_heat.h"
#include "index/off_cpu_times.h"
#include "server/http/http.h"

#include <semaphore.h>

struct api {
    const struct trace_index *index;
    const char *name;                 /* of the trace, for people */
    const char *trace;                /* the trace's file; NULL: a recording was decoded */
    struct line_counter line_counter; /* how often lines ran */
    const struct api *other; /* the trace that it can be compared with; NULL: one trace alone */
    char letter;             /* of the two traces 'a' or 'b' */
    struct off_cpu_times *off_cpu; /* owned */
    sem_t long_answers, countings; /* how many more of them may run */
};

/* `line_counter` must outlive it; NULL: how often lines ran is not known. */
void api_open(struct api *api, const struct trace_index *index, const char *name, const char *trace,
              const struct line_counter *line_counter);
/* Both can be compared from here on; they must stay where they are. */
void api_pair(struct api *a, struct api *b);
void api_close(struct api *api);

/* `path`: the part after /api/. */
void api_answer(struct api *api, const char *path, const struct http_request *request,
                struct http_answer *answer);

#endif
