#include "cli/serve/serve_loop.h"

#include "base/log.h"
#include "base/memory.h"
#include "cli/serve/browser.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

sigset_t serve_loop_block_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction now;
        if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&set, signals[i]);
    }
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    return set;
}

static bool is_every_address(const char *host)
{
    return strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
}

static bool is_for_this_machine(const char *host)
{
    return !host || strncmp(host, "127.", 4) == 0 || strcmp(host, "::1") == 0 ||
           strcmp(host, "localhost") == 0;
}

/* How a browser on this machine reaches what listens at `host`. */
static const char *own_host(const char *host)
{
    return !host || is_every_address(host) ? "127.0.0.1" : host;
}

bool serve_loop_open(struct serve_loop *loop, const char *host, uint16_t port,
                     const struct authentication *authentication, struct error *error)
{
    *loop = (struct serve_loop){.address = {.host = host, .port = port}};
    loop->descriptor = listen_socket_open(&loop->address, error);
    if (loop->descriptor < 0)
        return false;
    const char *own = own_host(host);
    bool in_brackets = strchr(own, ':');
    loop->base =
        memory_format("http://%s%s%s:%u/%s", in_brackets ? "[" : "", own, in_brackets ? "]" : "",
                      loop->address.port, authentication->token.text);
    return true;
}

void serve_loop_close(struct serve_loop *loop)
{
    if (loop->descriptor >= 0)
        close(loop->descriptor);
    loop->descriptor = -1;
    free(loop->base);
    loop->base = NULL;
}

/* A user on another machine cannot follow an address of this one. The warning comes before the
 * address: it may be followed at once. */
static void say_where(const struct serve_loop *loop, const char *login_url)
{
    const char *host = loop->address.host;
    if (!is_for_this_machine(host))
        log_warning("Whoever can reach this machine and knows the address can see the trace, and "
                    "it goes over the network unencrypted.");
    log_status("Open %s to see the trace. Ctrl-C ends it.", login_url);
    if (!host && !browser_is_there())
        log_status("From another machine: ssh -L %u:127.0.0.1:%u THIS_MACHINE, and open the same "
                   "address there.",
                   loop->address.port, loop->address.port);
    if (host && is_every_address(host))
        log_status("From another machine: put this machine's name or address in the place of "
                   "127.0.0.1.");
}

static void start_browser(const struct serve_loop *loop,
                          const struct authentication *authentication)
{
    /* The base, with the key in the place of the token. */
    size_t length = strlen(loop->base) - strlen(authentication->token.text);
    char *address = memory_format("%.*s%s/", (int)length, loop->base, authentication->key.text);
    if (!browser_open(address))
        log_status("No browser could be started: xdg-open is not installed.");
    free(address);
}

static void wait_for_signal(struct http_server *server, const sigset_t *ending)
{
    const struct timespec second = {.tv_sec = 1};
    while (sigtimedwait(ending, NULL, &second) < 0)
        http_server_sweep(server);
}

bool serve_loop_run(struct serve_loop *loop, struct authentication *authentication,
                    const struct http_site *site, const char *login_url, bool with_browser,
                    const sigset_t *ending, struct error *error)
{
    with_browser = with_browser && browser_is_there();
    if (with_browser)
        authentication->login_url = memory_copy_string(login_url);
    struct http_server *server = http_server_start(loop->descriptor, site, error);
    loop->descriptor = -1;
    if (!server)
        return false;
    say_where(loop, login_url);
    if (with_browser)
        start_browser(loop, authentication);
    wait_for_signal(server, ending);
    if (isatty(STDERR_FILENO))
        fputc('\n', stderr); /* after the terminal's ^C */
    loop->is_stuck = !http_server_quiesce(server);
    if (!loop->is_stuck)
        http_server_stop(server);
    return true;
}
