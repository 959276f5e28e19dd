/* A site on its port until Ctrl-C: what all ways of showing a trace in a browser have in common. */
#ifndef MAGIC_TRACE_CLI_SERVE_SERVE_LOOP_H
#define MAGIC_TRACE_CLI_SERVE_SERVE_LOOP_H

#include "base/error.h"
#include "server/http/authentication.h"
#include "server/http/http_server.h"
#include "server/http/listen_socket.h"

#include <signal.h>

struct serve_loop {
    struct listen_address address;
    int descriptor; /* the listening socket; -1: closed, or the server's */
    char *base;     /* http://ADDRESS:PORT/TOKEN, for this machine; owned */
    bool is_stuck;  /* an answer is still being computed: what the site uses must stay */
};

/* Blocks the signals that end magic-trace, in this thread and those that it starts. Gives those
 * that it has blocked; ignored ones stay ignored. */
sigset_t serve_loop_block_signals(void);

/* Opens the port. `authentication` is open. */
bool serve_loop_open(struct serve_loop *loop, const char *host, uint16_t port,
                     const struct authentication *authentication, struct error *error);

/* Serves until a signal of `ending` comes; says where, and starts a browser if `with_browser` and
 * there is one. `login_url`: the address for users. */
bool serve_loop_run(struct serve_loop *loop, struct authentication *authentication,
                    const struct http_site *site, const char *login_url, bool with_browser,
                    const sigset_t *ending, struct error *error);

void serve_loop_close(struct serve_loop *loop);

#endif
