#include "cli/options/trigger_choice.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/printable.h"
#include "cli/choose.h"
#include "symbol/dwarf/line_search.h"
#include "symbol/function_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is offered: how it is shown, and the trigger's text that it stands for. */
struct offers {
    struct array shown; /* of const char * */
    struct array texts; /* of const char * */
    struct arena memory;
};

static void offers_begin(struct offers *offers)
{
    *offers = (struct offers){.shown = array_of(sizeof(char *)), .texts = array_of(sizeof(char *))};
}

static void offers_free(struct offers *offers)
{
    array_free(&offers->shown);
    array_free(&offers->texts);
    arena_free(&offers->memory);
}

static void offer(struct offers *offers, const char *shown, const char *prefix, const char *text)
{
    char *whole = memory_format("%s%s", prefix, text);
    *(const char **)array_add(&offers->shown) =
        printable_name(&offers->memory, arena_copy_string(&offers->memory, shown));
    *(const char **)array_add(&offers->texts) = arena_copy_string(&offers->memory, whole);
    free(whole);
}

/* The chosen offer's text, of the offers' memory; NULL with the reason. */
static const char *choose_offer(const struct offers *offers, const char *what, struct error *error)
{
    long chosen = choose(offers->shown.elements, offers->shown.count, what, "-trigger NAME", error);
    return chosen == CHOSEN_NOTHING ? NULL
                                    : *(const char **)array_at(&offers->texts, (size_t)chosen);
}

static const char *executable_of(const struct objects *objects)
{
    return *(const char **)array_at(&objects->paths, 0);
}

static const char *const *paths_of(const struct objects *objects)
{
    return objects->paths.elements;
}

/* ---- what there is ---- */

/* Of the executable alone: its libraries' functions can be named, but would drown its own. */
static bool offer_functions(struct offers *offers, const struct objects *objects, const char *part,
                            struct error *error)
{
    struct function_list list;
    bool ok = function_list_open(&list, executable_of(objects), error);
    for (size_t i = 0; i < list.functions.count; i++) {
        const struct listed_function *function = array_at(&list.functions, i);
        if (!part || strstr(function->name, part) || strstr(function->symbol, part))
            offer(offers, function->name, "symbol:", function->symbol);
    }
    function_list_close(&list);
    return ok;
}

static bool offer_files(struct offers *offers, const struct objects *objects, struct error *error)
{
    struct array files = array_of(sizeof(char *));
    struct arena memory = {0};
    bool ok = line_search_files(executable_of(objects), &files, &memory, error);
    for (size_t i = 0; i < files.count; i++) {
        const char *file = *(const char **)array_at(&files, i);
        offer(offers, file, "line:", file);
    }
    array_free(&files);
    arena_free(&memory);
    return ok;
}

static bool offer_lines(struct offers *offers, const struct objects *objects, const char *file,
                        struct error *error)
{
    struct array lines = array_of(sizeof(uint32_t));
    bool ok = line_search_lines(executable_of(objects), file, &lines, error);
    for (size_t i = 0; i < lines.count; i++) {
        char *text = memory_format("%s:%u", file, *(uint32_t *)array_at(&lines, i));
        offer(offers, text, "line:", text);
        free(text);
    }
    array_free(&lines);
    return ok;
}

/* ---- choosing ---- */

static bool find(struct trigger *trigger, const char *text, const struct objects *objects,
                 struct error *error)
{
    return trigger_find(trigger, text, paths_of(objects), objects->paths.count, error);
}

static bool choose_line(struct trigger *trigger, const char *file, const struct objects *objects,
                        struct error *error)
{
    struct offers offers;
    offers_begin(&offers);
    const char *text = NULL;
    if (offer_lines(&offers, objects, file, error))
        text = choose_offer(&offers, "line", error);
    bool ok = text && find(trigger, text, objects, error);
    offers_free(&offers);
    return ok;
}

static bool choose_among(struct trigger *trigger, const struct offers *offers, const char *what,
                         const struct objects *objects, struct error *error)
{
    if (offers->texts.count == 0)
        return error_set(error, ERROR_NOT_FOUND,
                         "Cannot select a snapshot symbol because %s has no symbol table and no "
                         "line tables. Keep them (do not strip), or give the place as addr:0x....",
                         executable_of(objects));
    const char *text = choose_offer(offers, what, error);
    if (!text)
        return false;
    const char *file = strncmp(text, "line:", strlen("line:")) == 0 ? text + strlen("line:") : NULL;
    return file ? choose_line(trigger, file, objects, error) : find(trigger, text, objects, error);
}

bool trigger_choose(struct trigger *trigger, const char *text, const struct objects *objects,
                    struct error *error)
{
    bool functions = strcmp(text, "?") == 0 || strcmp(text, "symbol:?") == 0;
    bool lines = strcmp(text, "?") == 0 || strcmp(text, "line:?") == 0;
    if (!functions && !lines)
        return find(trigger, text, objects, error);
    struct offers offers;
    offers_begin(&offers);
    bool ok = !functions || offer_functions(&offers, objects, NULL, error);
    /* Without line tables there are still functions. */
    if (ok && lines)
        ok = offer_files(&offers, objects, functions ? NULL : error) || functions;
    ok = ok && choose_among(trigger, &offers,
                            !lines      ? "function"
                            : functions ? "place"
                                        : "file",
                            objects, error);
    offers_free(&offers);
    return ok;
}

bool trigger_choose_by_part(struct trigger *trigger, const char *part,
                            const struct objects *objects, struct error *error)
{
    struct offers offers;
    offers_begin(&offers);
    bool ok = offer_functions(&offers, objects, part, error);
    if (ok && offers.texts.count == 0)
        log_status("Couldn't find symbol. Will still snapshot on end");
    else if (ok && offers.texts.count == 1)
        ok = find(trigger, *(const char **)array_at(&offers.texts, 0), objects, error);
    else if (ok)
        ok = choose_among(trigger, &offers, "function", objects, error);
    offers_free(&offers);
    return ok;
}
