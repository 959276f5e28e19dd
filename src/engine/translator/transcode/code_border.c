#include "engine/translator/transcode/code_border.h"

static bool is_earlier(struct path_place a, struct path_place b)
{
    return a.step != b.step ? a.step < b.step : a.way < b.way;
}

/* A walk over the steps, for one moment. */
struct border_search {
    const struct code_moment *moment;
    struct code_border *border;
    bool only_newer; /* old code may run until later */
    bool is_old;     /* the code that runs */
};

static void note_leaving(struct border_search *search, struct path_place place)
{
    struct code_border *border = search->border;
    if (!search->is_old || search->only_newer)
        return;
    if (!border->leaves_old || is_earlier(border->place, place))
        border->place = place;
    border->leaves_old = true;
}

static void go_on_in(struct border_search *search, const struct fragment *fragment)
{
    if (!search->is_old)
        search->is_old = code_moment_age(search->moment, fragment) == CODE_OLDER;
}

static void enter_at(struct border_search *search, struct path_place place,
                     const struct fragment *fragment)
{
    struct code_border *border = search->border;
    note_leaving(search, place);
    enum code_age age = code_moment_age(search->moment, fragment);
    search->is_old = age == CODE_OLDER;
    if (age != CODE_NEWER || border->leaves_old)
        return;
    if (!border->comes_to_new || is_earlier(place, border->place))
        border->place = place;
    border->comes_to_new = true;
}

static void search_ways(struct border_search *search, const struct path *path, size_t index)
{
    const struct path_step *step = array_at(&path->steps, index);
    const struct pt_block_run *const *runs = array_at(&path->ways, step->ways.first);
    for (size_t i = 0; i < step->ways.count; i++) {
        if (!runs[i]->parts)
            continue;
        go_on_in(search, way_of(runs[i])->from);
        enter_at(search, (struct path_place){index, i}, way_of(runs[i])->to);
    }
}

static void search_step(struct border_search *search, const struct path *path, size_t index)
{
    const struct path_step *step = array_at(&path->steps, index);
    if (step->kind == PATH_WAYS)
        search_ways(search, path, index);
    else if (step->kind != PATH_EVENT && step->first == 0 && !step->begun)
        enter_at(search, (struct path_place){index, 0}, step->fragment);
    else if (step->kind != PATH_EVENT)
        go_on_in(search, step->fragment);
}

static void search_border(const struct path *path, const struct code_moment *moment,
                          bool only_newer, struct code_border *border)
{
    struct border_search search = {.moment = moment, .border = border, .only_newer = only_newer};
    const struct path_place end = {.step = path->steps.count};
    for (size_t i = 0; i < path->steps.count; i++)
        search_step(&search, path, i);
    if (path->fragment && path->next == 0)
        enter_at(&search, end, path->fragment);
    else if (!path->fragment)
        note_leaving(&search, end);
}

static void set_times(const struct border_scope *scope, struct code_border *border, uint64_t moment)
{
    uint64_t from = scope->from, early = moment - TR_MOMENT / 2;
    border->pause = pauses_at(scope->pauses, moment);
    border->before = early > from ? early : from;
    border->after = moment;
    border->pauses = false;
    if (border->pause == scope->pauses->all.count)
        return;
    const struct pause *pause = pauses_get(scope->pauses, border->pause);
    border->pauses = pause->begin < moment;
    if (border->pauses && border->before > pause->begin)
        border->before = pause->begin;
    if (border->pauses)
        border->after = pause->end;
}

/* Moments up to `until`, and a little later for new code: a thread that has run it had times a little before where the clock stood. */
static uint64_t last_of_new_code(const struct border_scope *scope, uint64_t until)
{
    return until + scope->tsc_hz / 1000;
}

/* The moments from the first one after `*after` on that a pause holds together, or that one alone; `*after` moves on. False: none
 * is up to `until`, or a little later for new code. */
static bool take_moments(const struct border_scope *scope, uint64_t until, uint64_t *after,
                         struct code_border *border)
{
    const uint64_t last = last_of_new_code(scope, until);
    struct code_changes_cursor cursor = scope->cursor;
    const struct code_moment *moment;
    bool any = false;
    *border = (struct code_border){0};
    while ((moment = code_changes_after(scope->changes, &cursor, scope->pid, *after)) &&
           moment->time <= last && (!any || moment->time <= border->after)) {
        if (!any)
            set_times(scope, border, moment->time);
        any = true;
        search_border(scope->path, moment, moment->time > until, border);
        *after = moment->time;
    }
    return any;
}

enum { KNOWN_FRAGMENTS = 64 };

struct window {
    const struct process_changes *process;
    uint64_t after, until;
    const struct fragment
        *known[KNOWN_FRAGMENTS]; /* by hash: of no concern. Loops have each one often */
};

static bool concerns(struct window *window, const struct fragment *fragment)
{
    enum { APART = 64 }; /* bytes, about, from a fragment to the next one */
    const struct fragment **known = &window->known[(uintptr_t)fragment / APART % KNOWN_FRAGMENTS];
    if (*known == fragment)
        return false;
    *known = fragment;
    return code_changes_concern(window->process, fragment, window->after, window->until);
}

static bool concerns_ways(struct window *window, const struct path *path,
                          const struct path_ways *ways)
{
    const struct pt_block_run *const *runs = array_at(&path->ways, ways->first);
    for (size_t i = 0; i < ways->count; i++)
        if (runs[i]->parts &&
            (concerns(window, way_of(runs[i])->from) || concerns(window, way_of(runs[i])->to)))
            return true;
    return false;
}

static bool concerns_path(struct window *window, const struct path *path)
{
    for (size_t i = 0; i < path->steps.count; i++) {
        const struct path_step *step = array_at(&path->steps, i);
        if (step->kind == PATH_WAYS ? concerns_ways(window, path, &step->ways)
                                    : step->kind != PATH_EVENT && concerns(window, step->fragment))
            return true;
    }
    return path->fragment && concerns(window, path->fragment);
}

bool code_border_is_near(struct border_scope *scope, uint64_t until)
{
    const struct code_moment *moment =
        code_changes_after(scope->changes, &scope->cursor, scope->pid, scope->from);
    return moment && moment->time <= last_of_new_code(scope, until);
}

/* A program that makes code all the time has some hundred moments near each interval, of which few concern what runs there. */
bool code_border_find(const struct border_scope *scope, uint64_t until, uint64_t *after,
                      struct code_border *first)
{
    struct window window = {
        .process = scope->cursor.process, .after = *after, .until = last_of_new_code(scope, until)};
    struct code_border border;
    bool found = false;
    if (!concerns_path(&window, scope->path))
        return false;
    for (uint64_t time = *after;
         !(found && first->leaves_old) && take_moments(scope, until, &time, &border);) {
        if (!border.leaves_old && !border.comes_to_new)
            continue;
        if (found && is_earlier(first->place, border.place))
            continue;
        *first = border;
        *after = time;
        found = true;
    }
    return found;
}

bool code_border_is_old(const struct border_scope *scope, uint64_t time)
{
    const struct fragment *fragment = scope->path->fragment;
    uint64_t after = scope->from;
    const struct code_moment *moment;
    struct code_changes_cursor cursor = scope->cursor;
    if (!fragment)
        return false;
    while ((moment = code_changes_after(scope->changes, &cursor, scope->pid, after)) &&
           moment->time <= time) {
        if (code_moment_age(moment, fragment) == CODE_OLDER)
            return true;
        after = moment->time;
    }
    return false;
}
