#include "image/debuginfod.h"

#include "base/log.h"
#include "base/memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The functions of libdebuginfod (elfutils/debuginfod.h), version 0.179; a client is opaque. */
typedef int report_progress(void *client, long done, long total);
typedef void *begin_client(void);
typedef void end_client(void *client);
typedef void set_progress(void *client, report_progress *report);
typedef void set_user_data(void *client, void *data);
typedef void *get_user_data(void *client);
typedef int find_executable(void *client, const unsigned char *id, int id_size, char **path);

static const char library_name[] = "libdebuginfod.so.1";

struct debuginfod {
    void *library;
    void *client;
    end_client *end;
    find_executable *find;
    time_t last_change; /* of `done`, on the monotonic clock */
    long done;          /* of the current download */
    bool gave_up;       /* on it */
    bool silent;        /* a server did not answer */
    bool announced;
};

enum { SILENCE_SECONDS = 15 };

static time_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec;
}

/* The library hands the client alone to `watch`. */
static struct debuginfod *session_of(void *client)
{
    void *library = dlopen(library_name, RTLD_NOW | RTLD_NOLOAD);
    get_user_data *get = (get_user_data *)dlsym(library, "debuginfod_get_user_data");
    struct debuginfod *session = get(client);
    dlclose(library);
    return session;
}

/* Called about once a second; anything but 0 ends the download. */
static int watch(void *client, long done, long total)
{
    struct debuginfod *session = session_of(client);
    /* Before an answer comes, the library counts its own calls in `done`. */
    if (done > session->done + 1)
        session->last_change = now();
    session->done = done;
    session->gave_up = now() - session->last_change >= SILENCE_SECONDS;
    if (total > 0)
        log_progress("Downloading", (uint64_t)done, (uint64_t)total);
    return session->gave_up;
}

static bool load(struct debuginfod *session)
{
    session->library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!session->library)
        return false;
    begin_client *begin = (begin_client *)dlsym(session->library, "debuginfod_begin");
    set_progress *progress = (set_progress *)dlsym(session->library, "debuginfod_set_progressfn");
    set_user_data *set = (set_user_data *)dlsym(session->library, "debuginfod_set_user_data");
    session->end = (end_client *)dlsym(session->library, "debuginfod_end");
    session->find = (find_executable *)dlsym(session->library, "debuginfod_find_executable");
    if (!begin || !progress || !set || !session->end || !session->find ||
        !dlsym(session->library, "debuginfod_get_user_data"))
        return false;
    session->client = begin();
    if (!session->client)
        return false;
    set(session->client, session);
    progress(session->client, watch);
    return true;
}

struct debuginfod *debuginfod_open(void)
{
    const char *servers = getenv("DEBUGINFOD_URLS");
    if (!servers || !servers[strspn(servers, " ")])
        return NULL;
    struct debuginfod *session = memory_allocate_zeroed(sizeof *session);
    if (load(session))
        return session;
    log_warning("DEBUGINFOD_URLS is set, but libdebuginfod.so.1 cannot be loaded: files that are "
                "missing here are not asked for. Install libdebuginfod1.");
    debuginfod_close(session);
    return NULL;
}

void debuginfod_close(struct debuginfod *session)
{
    if (!session)
        return;
    if (session->client)
        session->end(session->client);
    if (session->library)
        dlclose(session->library);
    free(session);
}

static void announce(struct debuginfod *session, const char *name)
{
    if (!session->announced)
        log_status("Asking the servers of DEBUGINFOD_URLS for files that are not here, first %s...",
                   name);
    session->announced = true;
}

char *debuginfod_fetch(struct debuginfod *session, const struct build_id *id, const char *name)
{
    char *path = NULL;
    if (session->silent)
        return NULL;
    announce(session, name);
    session->last_change = now();
    session->done = 0;
    session->gave_up = false;
    int descriptor = session->find(session->client, id->bytes, id->size, &path);
    log_progress_end();
    if (descriptor >= 0) {
        close(descriptor);
        return path;
    }
    if (session->gave_up || descriptor == -ETIME || descriptor == -ETIMEDOUT) {
        session->silent = true;
        log_warning("no server of DEBUGINFOD_URLS has answered for %d seconds; no more is asked.",
                    SILENCE_SECONDS);
    }
    return NULL;
}
