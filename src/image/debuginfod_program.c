/* debuginfod.h by the program debuginfod-find, in place of the library that debuginfod.c loads: a static executable can
 * load no library. How long a silent server is waited for is the program's own setting (DEBUGINFOD_TIMEOUT).
 */
#include "image/debuginfod.h"

#include "base/file.h"
#include "base/helper_program.h"
#include "base/log.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct debuginfod {
    char *program; /* owned */
    bool announced;
};

struct debuginfod *debuginfod_open(void)
{
    const char *servers = getenv("DEBUGINFOD_URLS");
    if (!servers || !servers[strspn(servers, " ")])
        return NULL;
    char *program = file_find_program("debuginfod-find");
    if (!program) {
        log_warning("DEBUGINFOD_URLS is set, but debuginfod-find is not in PATH: files that are "
                    "missing here are not asked for. Install debuginfod.");
        return NULL;
    }
    struct debuginfod *session = memory_allocate_zeroed(sizeof *session);
    session->program = program;
    return session;
}

void debuginfod_close(struct debuginfod *session)
{
    if (session)
        free(session->program);
    free(session);
}

char *debuginfod_fetch(struct debuginfod *session, const struct build_id *id, const char *name)
{
    if (!session->announced)
        log_status("Asking the servers of DEBUGINFOD_URLS for files that are not here, first %s...",
                   name);
    session->announced = true;
    char id_text[BUILD_ID_TEXT_SIZE];
    build_id_format(id, id_text);
    char *arguments[] = {session->program, (char *)"executable", id_text, NULL};
    char *path = helper_program_output(arguments, false);
    if (path)
        path[strcspn(path, "\n")] = 0;
    if (path && access(path, R_OK) == 0)
        return path;
    free(path);
    return NULL;
}
