#include "cli/serve/serve.h"

#include "base/log.h"
#include "base/memory.h"
#include "cli/options/quantity.h"
#include "cli/options/shell_word.h"
#include "cli/serve/interrupt_guard.h"
#include "cli/serve/serve_loop.h"
#include "cli/serve/view_place.h"
#include "cli/serve/viewed_trace.h"
#include "cli/span_input.h"
#include "server/perfetto_site.h"
#include "server/viewer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A temporary trace must be removed when Ctrl-C comes while its index is being made. */
static bool open_guarded(struct viewed_trace *trace, const char *path,
                         const struct serve_options *options, struct error *error)
{
    struct interrupt_guard guard;
    interrupt_guard_begin(&guard, options->temporary_folder);
    bool ok = options->no_inlined ? viewed_trace_open_called(trace, path, error)
                                  : viewed_trace_open(trace, path, error);
    interrupt_guard_end(&guard);
    return ok;
}

/* ---- our own page ---- */

struct own_page {
    struct viewed_trace trace;
    struct viewed_trace baseline; /* trace A, if two are compared */
    struct viewer viewer;
};

static void say_damage(const struct trace_index *index)
{
    const char *damage = trace_index_facts(index)->damage;
    if (damage)
        log_warning("the trace is shown as far as it can be read. %s", damage);
}

static bool run_page(struct own_page *page, const struct serve_options *options, const char *place,
                     struct serve_loop *loop, struct error *error)
{
    const sigset_t ending = serve_loop_block_signals();
    struct viewer *viewer = &page->viewer;
    if (!serve_loop_open(loop, options->listen, options->port, &viewer->authentication, error))
        return false;
    api_open(&viewer->api, page->trace.index, page->trace.name, page->trace.file,
             &page->trace.line_counter);
    if (page->baseline.index) {
        api_open(&viewer->baseline, page->baseline.index, page->baseline.name, page->baseline.file,
                 &page->baseline.line_counter);
        api_pair(&viewer->baseline, &viewer->api);
    }
    viewer->web_folder = getenv("MAGIC_TRACE_WEB_DIR");
    const struct http_site site = viewer_site(viewer);
    char *login_url = memory_format("%s/%s%s", loop->base, place ? "#" : "", place ? place : "");
    bool ok = serve_loop_run(loop, &viewer->authentication, &site, login_url, !options->no_browser,
                             &ending, error);
    free(login_url);
    return ok;
}

static void free_page(struct own_page *page)
{
    api_close(&page->viewer.api);
    if (page->baseline.index)
        api_close(&page->viewer.baseline);
    authentication_close(&page->viewer.authentication);
    viewed_trace_close(&page->trace);
    viewed_trace_close(&page->baseline);
    free(page);
}

static bool serve_page(const char *path, const struct serve_options *options, struct error *error)
{
    struct own_page *page = memory_allocate_zeroed(sizeof *page);
    struct serve_loop loop = {.descriptor = -1};
    bool ok =
        authentication_open(&page->viewer.authentication, options->listen, NULL, error) &&
        (!options->baseline || open_guarded(&page->baseline, options->baseline, options, error)) &&
        open_guarded(&page->trace, path, options, error);
    char *place = NULL;
    if (ok && options->at) {
        place = view_place_fragment(page->trace.index, options->at, error);
        ok = place;
    }
    if (ok) {
        if (page->baseline.index)
            say_damage(page->baseline.index);
        say_damage(page->trace.index);
        ok = run_page(page, options, place, &loop, error);
    }
    free(place);
    serve_loop_close(&loop);
    if (!loop.is_stuck)
        free_page(page);
    return ok;
}

/* ---- Perfetto's ---- */

/* What ui.perfetto.dev holds, in a browser's tab of 4 GB; and how many calls one may open in
 * another on one track. */
enum { PERFETTO_SPANS_MAX = 11000000, PERFETTO_LEVELS_MAX = 512 };

static void warn_of_limits(const struct trace_index *index)
{
    const struct index_facts *facts = trace_index_facts(index);
    uint32_t deepest = 0;
    for (uint32_t track = 0; track < facts->tracks; track++) {
        struct index_track about = trace_index_track(index, track);
        deepest = about.depth > deepest ? about.depth : deepest;
    }
    if (facts->spans > PERFETTO_SPANS_MAX)
        log_warning("the trace has %s calls. The Perfetto UI takes about 11 million before its tab "
                    "in the browser ends; `magic-trace view` without -perfetto shows them all.",
                    quantity_count(facts->spans).text);
    if (deepest > PERFETTO_LEVELS_MAX)
        log_warning("calls are nested %s deep, and the Perfetto UI shows 512 levels of a track; "
                    "magic-trace writes deeper ones to tracks of their own, other programs lose "
                    "them.",
                    quantity_count(deepest).text);
}

/* Also reports that the trace cannot be read, before a browser does. */
static bool check_limits(const char *path, const char *folder, struct error *error)
{
    struct viewed_trace trace;
    const struct serve_options options = {.temporary_folder = folder};
    if (!open_guarded(&trace, path, &options, error))
        return false;
    warn_of_limits(trace.index);
    viewed_trace_close(&trace);
    return true;
}

static bool check_folder(const char *folder, struct error *error)
{
    char *page = memory_format("%s/index.html", folder);
    bool ok = access(page, R_OK) == 0;
    free(page);
    return ok || error_set(error, ERROR_USAGE,
                           "%s is no copy of the Perfetto UI: it has no index.html. Build one as "
                           "https://perfetto.dev/docs/contributing/ui-getting-started says; its "
                           "folder is ui/out/dist.",
                           folder);
}

static bool check_trace(const char *path, const char *folder, struct error *error)
{
    if (span_input_is_recording(path))
        return error_set(error, ERROR_USAGE,
                         "Perfetto cannot read the recording %s. Make a trace of it: magic-trace "
                         "decode %s",
                         path, path);
    struct stat status;
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return error_set(error, ERROR_USAGE,
                         "%s is no file, and Perfetto may ask for the trace more than once.", path);
    return check_limits(path, folder, error);
}

static bool run_perfetto(struct perfetto_site *site, const struct serve_options *options,
                         struct serve_loop *loop, struct error *error)
{
    /* The UI's Content-Security-Policy allows no other port. */
    uint16_t port = site->ui_folder ? options->port : (uint16_t)PERFETTO_PORT;
    const char *host = site->ui_folder ? options->listen : NULL;
    const sigset_t ending = serve_loop_block_signals();
    if (!serve_loop_open(loop, host, port, &site->authentication, error))
        return false;
    const struct http_site http = perfetto_http_site(site);
    char *login_url = site->ui_folder ? memory_format("%s/", loop->base)
                                      : perfetto_site_address(site, loop->base);
    bool ok = serve_loop_run(loop, &site->authentication, &http, login_url, !options->no_browser,
                             &ending, error);
    free(login_url);
    return ok;
}

static bool serve_perfetto(const char *path, const struct serve_options *options,
                           struct error *error)
{
    const char *slash = strrchr(path, '/');
    struct perfetto_site *site = memory_allocate_zeroed(sizeof *site);
    struct serve_loop loop = {.descriptor = -1};
    site->trace = path;
    site->name = slash ? slash + 1 : path;
    site->ui_folder = options->ui_folder;
    bool ok = (!site->ui_folder || check_folder(site->ui_folder, error)) &&
              check_trace(path, options->temporary_folder, error) &&
              authentication_open(&site->authentication, site->ui_folder && options->listen,
                                  site->ui_folder ? NULL : perfetto_origin, error) &&
              run_perfetto(site, options, &loop, error);
    serve_loop_close(&loop);
    if (!loop.is_stuck) {
        authentication_close(&site->authentication);
        free(site);
    }
    return ok;
}

bool serve_trace(const char *path, const struct serve_options *options, struct error *error)
{
    if (options->perfetto || options->ui_folder)
        return serve_perfetto(path, options, error);
    return serve_page(path, options, error);
}
