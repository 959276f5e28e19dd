#include "engine/functions/chosen_functions.h"

#include "base/edit_distance.h"
#include "base/memory.h"
#include "engine/functions/function_patterns.h"
#include "process/process_files.h"
#include "recording/flags.h"
#include "symbol/dwarf/signatures.h"
#include "symbol/function_list.h"

#include <stdlib.h>
#include <string.h>

enum { STRING_SIZE = 128, WORD = 8 }; /* bytes; of a string so many are recorded */

/* ---- which functions ---- */

struct found_function {
    const char *object; /* borrowed */
    const char *symbol, *name;
    uint64_t address, file_offset;
};

struct finding {
    struct array found; /* struct found_function */
    struct arena *memory;
    struct closest_names closest;
};

/* By its first name, when it has several. */
static void add_found(struct finding *finding, const char *object,
                      const struct listed_function *function)
{
    for (size_t i = 0; i < finding->found.count; i++) {
        const struct found_function *known = array_at(&finding->found, i);
        if (known->address == function->address && strcmp(known->object, object) == 0)
            return;
    }
    *(struct found_function *)array_add(&finding->found) = (struct found_function){
        .object = object,
        .symbol = arena_copy_string(finding->memory, function->symbol),
        .name = arena_copy_string(finding->memory, function->name),
        .address = function->address,
        .file_offset = function->file_offset,
    };
}

static bool find_in_object(struct finding *finding, const char *object, const char *pattern,
                           struct error *error)
{
    struct function_list list;
    size_t before = finding->found.count;
    bool any = false;
    if (function_list_open(&list, object, error))
        for (size_t i = 0; i < list.functions.count && finding->found.count <= CHOSEN_PLACES; i++) {
            const struct listed_function *function = array_at(&list.functions, i);
            if (function_pattern_means(pattern, &list, function)) {
                add_found(finding, object, function);
                any = true;
            } else {
                listed_function_offer(function, &finding->closest, finding->memory);
            }
        }
    function_list_close(&list);
    return any || finding->found.count > before;
}

/* `program` is for the message. */
static bool refuse_pattern(const struct finding *finding, const char *pattern, const char *program,
                           struct error *error)
{
    char names[512] = "";
    closest_names_list(&finding->closest, names, sizeof names);
    return error_set(error, ERROR_NOT_FOUND,
                     "%s, given to " FLAG_ARGS ", is no function of %s or its libraries.%s%s%s",
                     pattern, program, *names ? " Did you mean " : "", names, *names ? "?" : "");
}

static bool find_file_in_object(struct finding *finding, const char *object, const char *file,
                                struct error *error)
{
    struct signatures *signatures = signatures_open(object);
    struct function_list list;
    size_t before = finding->found.count;
    if (function_list_open(&list, object, error))
        for (size_t i = 0; signatures && i < list.functions.count; i++) {
            const struct listed_function *function = array_at(&list.functions, i);
            if (finding->found.count <= CHOSEN_PLACES &&
                signatures_is_of_file(signatures, function->address, file))
                add_found(finding, object, function);
        }
    function_list_close(&list);
    signatures_close(signatures);
    return finding->found.count > before;
}

static bool refuse_file(const struct finding *finding, const char *file, const char *program,
                        struct error *error)
{
    return error_set(error, ERROR_NOT_FOUND,
                     "debug information of %s and its libraries names no function of the source "
                     "file %s. Compile it with -g, or name functions with " FLAG_ARGS ".",
                     program, file);
}

/* What the user asks for: how an object is searched for it, and what is said when none has it. */
struct question {
    bool (*find)(struct finding *finding, const char *object, const char *what,
                 struct error *error);
    bool (*refuse)(const struct finding *finding, const char *what, const char *program,
                   struct error *error);
};

static const struct question of_pattern = {find_in_object, refuse_pattern};
static const struct question of_file = {find_file_in_object, refuse_file};

/* The first of the objects that has it: the program, which must be readable, and then its libraries. */
static bool find_first(struct finding *finding, const struct question *question, const char *what,
                       const char *const *objects, size_t object_count, struct error *error)
{
    finding->closest = closest_names_to(what);
    for (size_t i = 0; i < object_count; i++) {
        struct error why = {0};
        if (question->find(finding, objects[i], what, &why))
            return true;
        if (i == 0 && why.code != ERROR_NONE)
            return error_set(error, why.code, "%s", why.text);
    }
    return question->refuse(finding, what, object_count ? objects[0] : "the program", error);
}

static bool is_too_much(const struct finding *finding, const char *what, struct error *error)
{
    if (finding->found.count <= CHOSEN_PLACES)
        return false;
    error_set(error, ERROR_USAGE,
              "%s means more than %d functions, which is the most whose arguments can be recorded: "
              "name fewer.",
              what, CHOSEN_PLACES);
    return true;
}

static bool find_all(struct finding *finding, const char *patterns, const char *const *objects,
                     size_t object_count, struct error *error)
{
    for (const char *at = patterns, *end; *at; at = *end ? end + 1 : end) {
        end = function_pattern_end(at);
        char *pattern = strndup(at, (size_t)(end - at));
        bool ok = *pattern == 0 ||
                  find_first(finding, &of_pattern, pattern, objects, object_count, error);
        free(pattern);
        if (!ok)
            return false;
        if (is_too_much(finding, patterns, error))
            return false;
    }
    if (finding->found.count == 0)
        return error_set(error, ERROR_USAGE, FLAG_ARGS " needs the name of a function.");
    return true;
}

static int by_file_offset(const void *left, const void *right)
{
    const struct found_function *a = left, *b = right;
    if (a->file_offset != b->file_offset)
        return a->file_offset < b->file_offset ? -1 : 1;
    return strcmp(a->object, b->object);
}

/* ---- how to get their values ---- */

static struct value_step *add_step(struct chosen_functions *chosen)
{
    return array_add(&chosen->steps);
}

static uint16_t vector_size(uint32_t size)
{
    return size > WORD ? 2 * WORD : WORD;
}

static void add_place_steps(struct chosen_functions *chosen, const struct signature_value *value)
{
    for (size_t i = 0; i < value->place_count; i++) {
        const struct value_place *place = &value->places[i];
        struct value_step *step = add_step(chosen);
        step->number = place->number;
        switch (place->kind) {
        case PLACE_REGISTER:
            step->source = VALUE_OF_REGISTER;
            break;
        case PLACE_VECTOR:
            step->source = VALUE_OF_VECTOR;
            step->size = vector_size(place->size);
            break;
        case PLACE_STACK:
            step->source = VALUE_OF_STACK;
            step->size = (uint16_t)place->size;
            step->offset = place->offset;
            break;
        }
    }
}

/* Adds the steps of a value to those from `first` on. */
static void add_value_steps(struct chosen_functions *chosen, size_t first,
                            struct signature_value *value)
{
    size_t of_call = chosen->steps.count - first;
    const struct value_type *type = value->value.type;
    if (!type)
        return;
    if (of_call + value->place_count + 1 > CHOSEN_STEPS_OF_CALL || value->place_count == 0) {
        value->value.type = NULL;
        return;
    }
    add_place_steps(chosen, value);
    bool is_string = type->kind == VALUE_STRING && !value->value.in_memory;
    bool is_counted = type->kind == VALUE_COUNTED_STRING && !value->value.in_memory;
    if (!is_string && !is_counted && !value->value.in_memory)
        return;
    struct value_step *step = add_step(chosen);
    step->source = is_string ? VALUE_OF_STRING : VALUE_OF_MEMORY;
    step->number = (uint8_t)of_call;
    step->size = is_string || is_counted ? STRING_SIZE : (uint16_t)type->size;
}

static void describe(struct chosen_functions *chosen, const struct found_function *found,
                     struct signature *signature)
{
    struct chosen_place *place = array_add(&chosen->places);
    struct call_values_of_function *function = &chosen->values.functions[chosen->values.count++];
    char *path = process_file_real_path(found->object);
    *place = (struct chosen_place){
        .path = arena_copy_string(&chosen->memory, path),
        .file_offset = found->file_offset,
        .first = (uint32_t)chosen->steps.count,
    };
    free(path);
    size_t count = signature->argument_count;
    *function = (struct call_values_of_function){
        .name = found->name,
        .arguments = arena_allocate(&chosen->memory, (count + 1) * sizeof *function->arguments),
        .argument_count = count,
    };
    for (size_t i = 0; i < count; i++) {
        add_value_steps(chosen, place->first, &signature->arguments[i]);
        function->arguments[i] = signature->arguments[i].value;
    }
    place->arguments = (uint32_t)(chosen->steps.count - place->first);
    if (!signature->has_result)
        return;
    add_value_steps(chosen, chosen->steps.count, &signature->result);
    place->results = (uint32_t)(chosen->steps.count - place->first) - place->arguments;
    function->result = arena_allocate(&chosen->memory, sizeof *function->result);
    *function->result = signature->result.value;
}

static bool describe_all(struct chosen_functions *chosen, const struct finding *finding,
                         struct error *error)
{
    struct signatures *signatures = NULL;
    const char *object = NULL;
    chosen->values.functions =
        arena_allocate(&chosen->memory, finding->found.count * sizeof *chosen->values.functions);
    for (size_t i = 0; i < finding->found.count; i++) {
        const struct found_function *found = array_at(&finding->found, i);
        struct signature signature;
        if (!object || strcmp(object, found->object) != 0) {
            signatures_close(signatures);
            signatures = signatures_open(found->object);
            object = found->object;
        }
        if (!signatures || !signatures_find(signatures, found->address, found->symbol,
                                            &chosen->memory, &signature)) {
            signature = signature_of_registers(found->object, &chosen->memory);
            chosen->without_types = true;
        }
        describe(chosen, found, &signature);
    }
    signatures_close(signatures);
    if (chosen->steps.count <= CHOSEN_STEPS)
        return true;
    return error_set(error, ERROR_USAGE,
                     FLAG_ARGS
                     " means %zu functions with more arguments than can be recorded: name "
                     "fewer.",
                     finding->found.count);
}

bool chosen_functions_find(struct chosen_functions *chosen, const char *patterns, const char *file,
                           const char *const *objects, size_t object_count, struct error *error)
{
    *chosen = (struct chosen_functions){.places = array_of(sizeof(struct chosen_place)),
                                        .steps = array_of(sizeof(struct value_step))};
    struct finding finding = {.found = array_of(sizeof(struct found_function)),
                              .memory = &chosen->memory};
    bool ok = (!file || (find_first(&finding, &of_file, file, objects, object_count, error) &&
                         !is_too_much(&finding, file, error))) &&
              (!patterns || find_all(&finding, patterns, objects, object_count, error));
    if (ok) {
        qsort(finding.found.elements, finding.found.count, sizeof(struct found_function),
              by_file_offset);
        ok = describe_all(chosen, &finding, error);
    }
    array_free(&finding.found);
    return ok;
}

void chosen_functions_free(struct chosen_functions *chosen)
{
    array_free(&chosen->places);
    array_free(&chosen->steps);
    arena_free(&chosen->memory);
    *chosen = (struct chosen_functions){0};
}
