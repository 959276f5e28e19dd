#include "recording/call_values.h"

#include "base/file.h"
#include "base/memory.h"
#include "recording/json_file.h"

#include <stdlib.h>
#include <string.h>

static const char file_name[] = "call-values.json";

static const char *const kind_names[VALUE_KIND_COUNT] = {
    [VALUE_SIGNED] = "signed",
    [VALUE_UNSIGNED] = "unsigned",
    [VALUE_FLOAT] = "float",
    [VALUE_COMPLEX] = "complex",
    [VALUE_BOOL] = "bool",
    [VALUE_CHARACTER] = "char",
    [VALUE_POINTER] = "pointer",
    [VALUE_STRING] = "string",
    [VALUE_ENUM] = "enum",
    [VALUE_STRUCT] = "struct",
    [VALUE_COUNTED_STRING] = "counted string",
    [VALUE_ARRAY] = "array",
    [VALUE_BYTES] = "bytes",
};

enum {
    DEPTH_MAX = 32,          /* of types within types */
    MEMBERS_MAX = 1 << 20,   /* of all types of a file */
    FUNCTIONS_MAX = 1 << 10, /* CALL_VALUES_PLACE of packet/call_values_head.h, plus 1 */
    VALUES_MAX = 64,         /* of one function */
};
static const uint64_t size_max = 1 << 20; /* bytes of one value */

/* ---- writing ---- */

/* Names are of the program's; where they are not UTF-8 they are left out. */
static void set_name(json_t *object, const char *name)
{
    json_t *text = name ? json_string(name) : NULL;
    if (text)
        json_object_set_new(object, "name", text);
}

static json_t *type_to_json(const struct value_type *type);

static json_t *member_to_json(const struct value_type *type, const struct value_member *member)
{
    json_t *object = json_object();
    set_name(object, member->name);
    if (type->kind == VALUE_ENUM) {
        json_object_set_new(object, "value", json_integer(member->value));
        return object;
    }
    json_object_set_new(object, "offset", json_integer(member->offset));
    if (member->bits) {
        json_object_set_new(object, "bit", json_integer(member->bit));
        json_object_set_new(object, "bits", json_integer(member->bits));
    }
    json_object_set_new(object, "type", type_to_json(member->type));
    return object;
}

static json_t *type_to_json(const struct value_type *type)
{
    json_t *object = json_object();
    json_object_set_new(object, "kind", json_string(kind_names[type->kind]));
    json_object_set_new(object, "size", json_integer(type->size));
    if (type->is_unsigned)
        json_object_set_new(object, "unsigned", json_true());
    if (type->member_count == 0)
        return object;
    json_t *members = json_array();
    for (size_t i = 0; i < type->member_count; i++)
        json_array_append_new(members, member_to_json(type, &type->members[i]));
    json_object_set_new(object, "members", members);
    return object;
}

static json_t *value_to_json(const struct call_value *value)
{
    json_t *object = json_object();
    set_name(object, value->name);
    if (value->type)
        json_object_set_new(object, "type", type_to_json(value->type));
    if (value->in_memory)
        json_object_set_new(object, "memory", json_true());
    return object;
}

static json_t *function_to_json(const struct call_values_of_function *function)
{
    json_t *object = json_object(), *arguments = json_array();
    set_name(object, function->name);
    for (size_t i = 0; i < function->argument_count; i++)
        json_array_append_new(arguments, value_to_json(&function->arguments[i]));
    json_object_set_new(object, "arguments", arguments);
    if (function->result)
        json_object_set_new(object, "result", value_to_json(function->result));
    return object;
}

bool call_values_write(const struct call_values *values, const char *directory, struct error *error)
{
    json_t *functions = json_array();
    for (size_t i = 0; i < values->count; i++)
        json_array_append_new(functions, function_to_json(&values->functions[i]));
    return json_file_write(json_pack("{so}", "functions", functions), directory, file_name, error);
}

/* ---- reading: a recording may come from anybody ---- */

struct reading {
    struct arena *memory;
    size_t members; /* read so far */
    bool ok;
};

static void *allocate(struct reading *reading, size_t count, size_t size)
{
    void *memory = arena_allocate(reading->memory, count * size + 1);
    memset(memory, 0, count * size + 1);
    return memory;
}

static const char *read_name(struct reading *reading, const json_t *object)
{
    const char *name = json_string_value(json_object_get(object, "name"));
    return name ? arena_copy_string(reading->memory, name) : NULL;
}

static uint64_t read_number(struct reading *reading, const json_t *object, const char *key,
                            uint64_t most)
{
    json_int_t number = json_integer_value(json_object_get(object, key));
    if (number < 0 || (uint64_t)number > most) {
        reading->ok = false;
        return 0;
    }
    return (uint64_t)number;
}

static const struct value_type *read_type(struct reading *reading, const json_t *object,
                                          unsigned depth);

static void read_member(struct reading *reading, const json_t *object,
                        const struct value_type *type, struct value_member *member, unsigned depth)
{
    member->name = read_name(reading, object);
    if (type->kind == VALUE_ENUM) {
        member->value = json_integer_value(json_object_get(object, "value"));
        return;
    }
    member->offset = (uint32_t)read_number(reading, object, "offset", size_max);
    member->bit = (uint32_t)read_number(reading, object, "bit", 63);
    member->bits = (uint32_t)read_number(reading, object, "bits", 64);
    member->type = read_type(reading, json_object_get(object, "type"), depth + 1);
    /* Members lie within the value; those of a type without a size are not shown. */
    if (!member->type || member->offset + member->type->size > type->size)
        reading->ok = false;
}

static void read_members(struct reading *reading, const json_t *list, struct value_type *type,
                         unsigned depth)
{
    size_t count = json_array_size(list);
    reading->members += count;
    if (reading->members > MEMBERS_MAX) {
        reading->ok = false;
        return;
    }
    type->members = allocate(reading, count, sizeof *type->members);
    for (size_t i = 0; i < count && reading->ok; i++)
        read_member(reading, json_array_get(list, i), type, &type->members[i], depth);
    type->member_count = reading->ok ? count : 0;
}

static enum value_kind kind_of(struct reading *reading, const char *name)
{
    for (int i = 0; name && i < VALUE_KIND_COUNT; i++)
        if (strcmp(kind_names[i], name) == 0)
            return (enum value_kind)i;
    reading->ok = false;
    return VALUE_BYTES;
}

static bool has_size(const struct value_type *type)
{
    if (type->kind == VALUE_COUNTED_STRING)
        return type->size == 2 * sizeof(uint64_t);
    return type->kind != VALUE_FLOAT || type->size == sizeof(float) ||
           type->size == sizeof(double) || type->size == sizeof(long double);
}

static bool has_element(const struct value_type *type)
{
    if (type->kind == VALUE_COMPLEX)
        return type->member_count == 1 && type->members[0].type->kind == VALUE_FLOAT &&
               type->size == 2 * type->members[0].type->size;
    return type->kind != VALUE_ARRAY || type->member_count == 1;
}

static const struct value_type *read_type(struct reading *reading, const json_t *object,
                                          unsigned depth)
{
    if (!json_is_object(object) || depth > DEPTH_MAX) {
        reading->ok = false;
        return NULL;
    }
    struct value_type *type = allocate(reading, 1, sizeof *type);
    type->kind = kind_of(reading, json_string_value(json_object_get(object, "kind")));
    type->size = (uint32_t)read_number(reading, object, "size", size_max);
    type->is_unsigned = json_is_true(json_object_get(object, "unsigned"));
    read_members(reading, json_object_get(object, "members"), type, depth);
    if (!has_size(type) || !has_element(type))
        reading->ok = false;
    return reading->ok ? type : NULL;
}

static void read_value(struct reading *reading, const json_t *object, struct call_value *value)
{
    const json_t *type = json_object_get(object, "type");
    value->name = read_name(reading, object);
    if (type)
        value->type = read_type(reading, type, 0);
    value->in_memory = json_is_true(json_object_get(object, "memory"));
}

static void read_function(struct reading *reading, const json_t *object,
                          struct call_values_of_function *function)
{
    const json_t *arguments = json_object_get(object, "arguments");
    const json_t *result = json_object_get(object, "result");
    size_t count = json_array_size(arguments);
    function->name = read_name(reading, object);
    if (!function->name)
        function->name = "";
    if (count > VALUES_MAX) {
        reading->ok = false;
        return;
    }
    function->arguments = allocate(reading, count, sizeof *function->arguments);
    function->argument_count = count;
    for (size_t i = 0; i < count && reading->ok; i++)
        read_value(reading, json_array_get(arguments, i), &function->arguments[i]);
    if (result) {
        function->result = allocate(reading, 1, sizeof *function->result);
        read_value(reading, result, function->result);
    }
}

static bool parse(struct call_values *values, const struct file_view *view, const char *path,
                  struct error *error)
{
    json_error_t problem = {0};
    json_t *root = json_loadb((const char *)view->bytes, view->size, 0, &problem);
    const json_t *functions = json_object_get(root, "functions");
    struct reading reading = {.memory = &values->memory, .ok = json_is_array(functions)};
    size_t count = json_array_size(functions);
    reading.ok &= count <= FUNCTIONS_MAX;
    if (reading.ok) {
        values->functions = allocate(&reading, count, sizeof *values->functions);
        for (size_t i = 0; i < count && reading.ok; i++)
            read_function(&reading, json_array_get(functions, i), &values->functions[i]);
    }
    json_decref(root);
    if (!reading.ok)
        return error_set(error, ERROR_FORMAT,
                         "%s is damaged: it does not describe arguments and results.", path);
    values->count = count;
    return true;
}

bool call_values_read(struct call_values *values, const char *directory, struct error *error)
{
    *values = (struct call_values){0};
    char *path = memory_format("%s/%s", directory, file_name);
    struct file_view view = {0};
    struct error why;
    bool found = file_map(&view, path, &why);
    bool ok = found ? parse(values, &view, path, error)
                    : why.code == ERROR_NOT_FOUND || error_set(error, why.code, "%s", why.text);
    if (!ok)
        call_values_free(values);
    file_unmap(&view);
    free(path);
    return ok;
}

void call_values_free(struct call_values *values)
{
    arena_free(&values->memory);
    *values = (struct call_values){0};
}
