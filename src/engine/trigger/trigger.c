#include "engine/trigger/trigger.h"

#include "base/edit_distance.h"
#include "base/memory.h"
#include "image/image_file.h"
#include "process/process_files.h"
#include "recording/flags.h"
#include "symbol/dwarf/inlined_search.h"
#include "symbol/dwarf/line_search.h"
#include "symbol/function_list.h"
#include "x86/decode.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The parsed text of a trigger. */
struct trigger_text {
    const char *text;
    const char *symbol;  /* NULL: it cannot be one */
    const char *inlined; /* likewise: a function that is inlined */
    bool line, address;  /* it may be one; the first that fits is taken */
    char *file;          /* owned; of a line */
    struct searched_line wanted;
    uint64_t at; /* of an address */
};

/* ---- what was written ---- */

/* FILE:LINE[:COL], read from its end: a file's name may hold colons. */
static bool parse_line(struct trigger_text *parsed, const char *text)
{
    unsigned numbers[2];
    size_t count = 0;
    char *file = memory_copy_string(text);
    for (char *colon; count < 2 && (colon = strrchr(file, ':')) != NULL; count++) {
        char *end;
        errno = 0;
        unsigned long number = strtoul(colon + 1, &end, 10);
        if (colon[1] < '0' || colon[1] > '9' || *end || errno || number == 0 || number > INT32_MAX)
            break;
        numbers[count] = (unsigned)number;
        *colon = 0;
    }
    if (count == 0 || *file == 0) {
        free(file);
        return false;
    }
    parsed->file = file;
    parsed->wanted = (struct searched_line){
        .file = file,
        .line = numbers[count - 1],
        .column = count == 2 ? numbers[0] : 0,
    };
    return true;
}

static bool parse_address(struct trigger_text *parsed, const char *text)
{
    char *end;
    if (strncmp(text, "0x", 2) != 0)
        return false;
    errno = 0;
    parsed->at = strtoull(text, &end, 16);
    return text[2] && *end == 0 && errno == 0;
}

static const char *after_prefix(const char *text, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

static bool parse(struct trigger_text *parsed, const char *text, struct error *error)
{
    const char *rest;
    *parsed = (struct trigger_text){.text = text};
    if (strcmp(text, ".") == 0) {
        parsed->symbol = TRIGGER_STOP_INDICATOR;
    } else if ((rest = after_prefix(text, "symbol:"))) {
        parsed->symbol = rest;
    } else if ((rest = after_prefix(text, "inlined:"))) {
        parsed->inlined = rest;
    } else if ((rest = after_prefix(text, "line:"))) {
        parsed->line = parse_line(parsed, rest);
        if (!parsed->line)
            return error_set(error, ERROR_USAGE,
                             "`%s` is no line of source: FILE:LINE or "
                             "FILE:LINE:COLUMN.",
                             rest);
    } else if ((rest = after_prefix(text, "addr:"))) {
        parsed->address = parse_address(parsed, rest);
        if (!parsed->address)
            return error_set(error, ERROR_USAGE, "`%s` is no address: hexadecimal, like 0x401136.",
                             rest);
    } else {
        parsed->symbol = parsed->inlined = text;
        parsed->line = parse_line(parsed, text);
        parsed->address = parse_address(parsed, text);
    }
    if ((parsed->symbol && !*parsed->symbol) || (parsed->inlined && !*parsed->inlined))
        return error_set(error, ERROR_USAGE, "the trigger's name is empty.");
    return true;
}

/* ---- places ---- */

static int by_address(const void *left, const void *right)
{
    const struct trigger_place *a = left, *b = right;
    return (a->address > b->address) - (a->address < b->address);
}

static void add_place(struct trigger *trigger, const char *object, uint64_t address,
                      uint64_t file_offset)
{
    for (size_t i = 0; i < trigger->place_count; i++)
        if (trigger->places[i].address == address)
            return; /* another name of it */
    if (trigger->place_count == TRIGGER_PLACES)
        return;
    trigger->places =
        memory_resize(trigger->places, (trigger->place_count + 1) * sizeof *trigger->places);
    trigger->places[trigger->place_count++] = (struct trigger_place){
        .path = process_file_real_path(object),
        .address = address,
        .file_offset = file_offset,
    };
    qsort(trigger->places, trigger->place_count, sizeof *trigger->places, by_address);
}

/* ---- functions ---- */

/* Names to suggest; they own their memory. */
struct suggestions {
    struct closest_names closest;
    struct arena names;
    uint64_t functions; /* looked at */
};

static void suggest(struct suggestions *suggestions, const struct function_list *list)
{
    for (size_t i = 0; i < list->functions.count; i++) {
        const struct listed_function *function = array_at(&list->functions, i);
        if (!listed_function_is_cold(function))
            listed_function_offer(function, &suggestions->closest, &suggestions->names);
    }
    suggestions->functions += list->functions.count;
}

/* The readable name, or what was written when that means several. */
static void add_name(struct trigger *trigger, const char *name, const char *written)
{
    if (trigger->name && strcmp(trigger->name, name) == 0)
        return;
    const char *chosen = trigger->name ? written : name;
    free(trigger->name);
    trigger->name = memory_copy_string(chosen);
}

static bool find_in_list(struct trigger *trigger, const struct function_list *list,
                         const char *object, const char *symbol)
{
    for (size_t i = 0; i < list->functions.count; i++) {
        const struct listed_function *function = array_at(&list->functions, i);
        if (!function_list_means(list, function, symbol))
            continue;
        add_name(trigger, function->name, symbol);
        trigger->passes_time |= strcmp(function->symbol, TRIGGER_STOP_INDICATOR) == 0;
        add_place(trigger, object, function->address, function->file_offset);
        trigger->is_function = !listed_function_is_cold(function);
    }
    return trigger->place_count > 0;
}

/* An object that cannot be read has no functions; of the executable that is an error. */
static bool find_function(struct trigger *trigger, const char *symbol, const char *const *objects,
                          size_t object_count, struct suggestions *suggestions, struct error *error)
{
    bool found = false;
    for (size_t i = 0; !found && i < object_count; i++) {
        struct function_list list;
        bool opened = function_list_open(&list, objects[i], i == 0 ? error : NULL);
        if (opened) {
            found = find_in_list(trigger, &list, objects[i], symbol);
            if (!found)
                suggest(suggestions, &list);
        }
        function_list_close(&list);
        if (!opened && i == 0)
            return false;
    }
    return found;
}

static bool explain_unknown(const char *symbol, const char *executable,
                            const struct suggestions *suggestions, struct error *error)
{
    if (strcmp(symbol, TRIGGER_STOP_INDICATOR) == 0)
        return error_set(error, ERROR_NOT_FOUND,
                         "neither %s nor its libraries have %s, which is what takes snapshots from "
                         "inside a program. Link the program with libmagic_trace, or name another "
                         "function with " FLAG_TRIGGER ".",
                         executable, symbol);
    if (suggestions->functions == 0)
        return error_set(error, ERROR_NOT_FOUND,
                         "Snapshot symbol not found: %s. %s has no symbol table: keep it (do not "
                         "strip), or give the place as addr:0x....",
                         symbol, executable);
    char names[512] = "";
    closest_names_list(&suggestions->closest, names, sizeof names);
    return error_set(error, ERROR_NOT_FOUND,
                     "Snapshot symbol not found: %s is no function of %s "
                     "or its libraries.%s%s%s",
                     symbol, executable,
                     *names ? " Did you mean " : " Choose one with " FLAG_TRIGGER " ?", names,
                     *names ? "?" : ".");
}

/* ---- inlined functions ---- */

/* Of a function that is inlined everywhere, each place at which it is inlined. */
static bool find_inlined(struct trigger *trigger, const char *function, const char *const *objects,
                         size_t object_count, struct error *error)
{
    struct array places = array_of(sizeof(struct code_place));
    struct error first = {0};
    for (size_t i = 0; places.count == 0 && i < object_count; i++) {
        struct error found = {0};
        if (!inlined_search(objects[i], function, &places, &found) && i == 0)
            first = found;
        for (size_t j = 0; j < places.count; j++) {
            const struct code_place *place = array_at(&places, j);
            add_place(trigger, objects[i], place->address, place->file_offset);
        }
    }
    size_t count = places.count;
    array_free(&places);
    if (count == 0)
        return error_set(error, first.code, "%s", first.text);
    if (count > TRIGGER_PLACES)
        return error_set(error, ERROR_USAGE,
                         "%s is inlined in %zu places, more than a trigger can have (%d): name one "
                         "of them, " FLAG_TRIGGER " FILE:LINE:COLUMN.",
                         function, count, TRIGGER_PLACES);
    trigger->name = memory_format("%s [inlined]", function);
    return true;
}

/* ---- lines and addresses ---- */

static bool find_line(struct trigger *trigger, const struct trigger_text *parsed,
                      const char *const *objects, size_t object_count, struct error *error)
{
    struct array places = array_of(sizeof(struct code_place));
    struct error first = {0};
    for (size_t i = 0; places.count == 0 && i < object_count; i++) {
        struct error found = {0};
        if (!line_search(objects[i], &parsed->wanted, &places, &found) && i == 0)
            first = found;
        for (size_t j = 0; j < places.count; j++) {
            const struct code_place *place = array_at(&places, j);
            add_place(trigger, objects[i], place->address, place->file_offset);
        }
    }
    bool ok = places.count > 0;
    array_free(&places);
    if (!ok)
        return error_set(error, first.code, "%s", first.text);
    trigger->name =
        parsed->wanted.column
            ? memory_format("%s:%u:%u", parsed->file, parsed->wanted.line, parsed->wanted.column)
            : memory_format("%s:%u", parsed->file, parsed->wanted.line);
    return true;
}

/* Whether the function's instructions, one after the other, step over `address`. False where they cannot be read. */
static bool steps_over(const struct image_file *file, const struct listed_function *function,
                       uint64_t address)
{
    uint64_t at = function->address;
    while (at < address) {
        uint64_t from = function->file_offset + (at - function->address);
        struct x86_instruction instruction;
        if (from >= file->view.size || !x86_decode(&instruction, file->view.bytes + from,
                                                   file->view.size - from, at, X86_MODE_64))
            return false;
        at += instruction.length;
    }
    return at > address;
}

/* A breakpoint there would never be hit, or would change the instruction. */
static bool refuse_middle(const struct image_file *file, uint64_t address, struct error *error)
{
    struct function_list list;
    bool refused = false;
    if (function_list_open(&list, file->local_path, NULL))
        for (size_t i = 0; i < list.functions.count && !refused; i++) {
            const struct listed_function *function = array_at(&list.functions, i);
            if (address < function->address || address - function->address >= function->size ||
                !steps_over(file, function, address))
                continue;
            refused = true;
            error_set(error, ERROR_NOT_FOUND,
                      "0x%llx is in the middle of an instruction of %s in %s: see objdump -d.",
                      (unsigned long long)address, function->name, file->local_path);
        }
    function_list_close(&list);
    return refused;
}

static bool find_address(struct trigger *trigger, uint64_t address, const char *object,
                         struct error *error)
{
    struct arena memory = {0};
    struct image_file file = {.path = object, .local_path = object};
    bool ok = image_file_open(&file, &memory, error);
    uint64_t offset;
    bool code;
    if (ok && image_file_offset(&file, address, &offset, &code) && code) {
        ok = !refuse_middle(&file, address, error);
        add_place(trigger, object, address, offset);
    }
    image_file_close(&file);
    arena_free(&memory);
    if (!ok)
        return false;
    if (trigger->place_count == 0)
        return error_set(error, ERROR_NOT_FOUND,
                         "%s has no code at 0x%llx. Addresses are counted as in the file: see nm "
                         "or objdump -d.",
                         object, (unsigned long long)address);
    trigger->name = memory_format("0x%llx", (unsigned long long)address);
    return true;
}

/* ---- the whole ---- */

static bool find(struct trigger *trigger, const struct trigger_text *parsed,
                 const char *const *objects, size_t object_count, struct error *error)
{
    struct suggestions suggestions = {
        .closest = closest_names_to(parsed->symbol ? parsed->symbol : parsed->text)};
    struct error unread = {0}, not_inlined = {0};
    bool found = parsed->symbol && find_function(trigger, parsed->symbol, objects, object_count,
                                                 &suggestions, &unread);
    if (!found && unread.code == ERROR_NONE && parsed->inlined)
        found = find_inlined(trigger, parsed->inlined, objects, object_count, &not_inlined);
    if (!found && unread.code)
        error_set(error, unread.code, "%s", unread.text);
    else if (!found && not_inlined.code && (!parsed->symbol || not_inlined.code == ERROR_USAGE))
        error_set(error, not_inlined.code, "%s", not_inlined.text);
    else if (!found && parsed->line)
        found = find_line(trigger, parsed, objects, object_count, error);
    else if (!found && parsed->address)
        found = find_address(trigger, parsed->at, objects[0], error);
    else if (!found)
        explain_unknown(parsed->symbol, objects[0], &suggestions, error);
    arena_free(&suggestions.names);
    return found;
}

bool trigger_find(struct trigger *trigger, const char *text, const char *const *objects,
                  size_t object_count, struct error *error)
{
    struct trigger_text parsed;
    bool ok = parse(&parsed, text, error) && find(trigger, &parsed, objects, object_count, error);
    free(parsed.file);
    if (!ok)
        trigger_free(trigger);
    return ok;
}

void trigger_free(struct trigger *trigger)
{
    for (size_t i = 0; i < trigger->place_count; i++)
        free(trigger->places[i].path);
    free(trigger->places);
    free(trigger->name);
    trigger->name = NULL;
    trigger->places = NULL;
    trigger->place_count = 0;
    trigger->passes_time = trigger->is_function = false;
}
