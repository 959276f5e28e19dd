#include "recording/session.h"

#include "base/file.h"
#include "base/memory.h"
#include "recording/json_file.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- strings: JSON holds only UTF-8, names of files and arguments are any bytes ---- */

/* A string when it is UTF-8, otherwise the list of its bytes as numbers; null for NULL. */
static json_t *string_to_json(const char *string)
{
    if (!string)
        return json_null();
    json_t *text = json_string(string);
    if (text)
        return text;
    json_t *bytes = json_array();
    for (; *string; string++)
        json_array_append_new(bytes, json_integer((unsigned char)*string));
    return bytes;
}

static const char *bytes_from_json(const json_t *bytes, struct arena *memory)
{
    size_t count = json_array_size(bytes);
    char *string = arena_allocate(memory, count + 1);
    for (size_t i = 0; i < count; i++)
        string[i] = (char)json_integer_value(json_array_get(bytes, i));
    string[count] = 0;
    return string;
}

/* NULL when the value is neither form of a string. */
static const char *string_from_json(const json_t *value, struct arena *memory)
{
    if (json_is_string(value))
        return arena_copy_string(memory, json_string_value(value));
    if (json_is_array(value))
        return bytes_from_json(value, memory);
    return NULL;
}

/* ---- writing ---- */

static json_t *command_to_json(const char *const *command)
{
    if (!command)
        return json_null();
    json_t *list = json_array();
    for (; *command; command++)
        json_array_append_new(list, string_to_json(*command));
    return list;
}

static json_t *untraced_to_json(const struct session *session)
{
    json_t *list = json_array();
    for (size_t i = 0; i < session->untraced_count; i++) {
        const struct session_untraced *untraced = &session->untraced[i];
        json_t *entry = json_object();
        json_object_set_new(entry, "pid", json_integer(untraced->pid));
        json_object_set_new(entry, "threads", json_integer(untraced->threads));
        json_object_set_new(entry, "name", string_to_json(untraced->name));
        json_object_set_new(entry, "flag", string_to_json(untraced->flag));
        json_object_set_new(entry, "cause", string_to_json(untraced->cause));
        json_array_append_new(list, entry);
    }
    return list;
}

static json_t *deaths_to_json(const struct session *session)
{
    json_t *list = json_array();
    for (size_t i = 0; i < session->death_count; i++) {
        const struct session_death *death = &session->deaths[i];
        json_t *entry = json_object();
        json_object_set_new(entry, "time", json_integer((json_int_t)death->time));
        if (death->has_address)
            json_object_set_new(entry, "address", json_integer((json_int_t)death->address));
        json_object_set_new(entry, "signal", json_integer(death->signal));
        json_object_set_new(entry, "pid", json_integer(death->pid));
        json_object_set_new(entry, "tid", json_integer(death->tid));
        json_array_append_new(list, entry);
    }
    return list;
}

static json_t *hits_to_json(const struct session *session)
{
    json_t *list = json_array();
    for (size_t i = 0; i < session->hit_count; i++) {
        const struct session_hit *hit = &session->hits[i];
        json_t *entry = json_object();
        json_object_set_new(entry, "time", json_integer((json_int_t)hit->time));
        if (hit->passed)
            json_object_set_new(entry, "passed", json_integer((json_int_t)hit->passed));
        if (hit->has_argument)
            json_object_set_new(entry, "argument", json_integer(hit->argument));
        json_object_set_new(entry, "address", json_integer((json_int_t)hit->address));
        json_object_set_new(entry, "pid", json_integer(hit->pid));
        json_object_set_new(entry, "tid", json_integer(hit->tid));
        json_array_append_new(list, entry);
    }
    return list;
}

static json_t *session_to_json(const struct session *session)
{
    json_t *root = json_object();
    json_object_set_new(root, "version", string_to_json(session->version));
    json_object_set_new(root, "engine", string_to_json(session->engine));
    json_object_set_new(root, "clock", string_to_json(session->clock));
    if (session->callgraph)
        json_object_set_new(root, "callgraph", string_to_json(session->callgraph));
    json_object_set_new(root, "command", command_to_json((const char *const *)session->command));
    json_object_set_new(root, "program", string_to_json(session->program));
    json_object_set_new(root, "wall_clock_ns", json_integer((json_int_t)session->wall_clock_ns));
    json_object_set_new(root, "wall_clock_at", json_integer((json_int_t)session->wall_clock_at));
    json_object_set_new(root, "full_execution", json_boolean(session->full_execution));
    json_object_set_new(root, "multi_thread", json_boolean(session->multi_thread));
    json_object_set_new(root, "follow", json_boolean(session->follow));
    json_object_set_new(root, "switches", json_boolean(session->switches));
    json_object_set_new(root, "snapshot_size", json_integer((json_int_t)session->snapshot_size));
    json_object_set_new(root, "exit_status", json_integer(session->exit_status));
    json_object_set_new(root, "instructions", json_integer((json_int_t)session->instructions));
    json_object_set_new(root, "untraced", untraced_to_json(session));
    json_object_set_new(root, "deaths", deaths_to_json(session));
    json_object_set_new(root, "trigger", string_to_json(session->trigger));
    json_object_set_new(root, "hits", hits_to_json(session));
    return root;
}

bool session_write(const struct session *session, const char *directory, struct error *error)
{
    return json_file_write(session_to_json(session), directory, "session.json", error);
}

/* ---- reading ---- */

static const char *read_string(const json_t *object, const char *key, struct arena *memory)
{
    return string_from_json(json_object_get(object, key), memory);
}

/* 0 when missing or not a number. */
static uint64_t read_number(const json_t *object, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(object, key));
}

static bool read_boolean(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

static const char **command_from_json(const json_t *list, struct arena *memory)
{
    if (!json_is_array(list))
        return NULL;
    size_t count = json_array_size(list);
    const char **command = arena_allocate(memory, (count + 1) * sizeof *command);
    for (size_t i = 0; i < count; i++) {
        const char *word = string_from_json(json_array_get(list, i), memory);
        command[i] = word ? word : "";
    }
    command[count] = NULL;
    return command;
}

static void untraced_from_json(struct session *session, const json_t *list)
{
    size_t count = json_array_size(list); /* 0 when there is no list */
    if (count == 0)
        return;
    session->untraced_count = count;
    session->untraced = arena_allocate(&session->memory, count * sizeof *session->untraced);
    for (size_t i = 0; i < count; i++) {
        const json_t *entry = json_array_get(list, i);
        session->untraced[i] = (struct session_untraced){
            .pid = (uint32_t)read_number(entry, "pid"),
            .threads = (uint32_t)read_number(entry, "threads"),
            .name = read_string(entry, "name", &session->memory),
            .flag = read_string(entry, "flag", &session->memory),
            .cause = read_string(entry, "cause", &session->memory),
        };
    }
}

static void deaths_from_json(struct session *session, const json_t *list)
{
    size_t count = json_array_size(list); /* 0 when there is no list */
    if (count == 0)
        return;
    session->death_count = count;
    session->deaths = arena_allocate(&session->memory, count * sizeof *session->deaths);
    for (size_t i = 0; i < count; i++) {
        const json_t *entry = json_array_get(list, i);
        session->deaths[i] = (struct session_death){
            .time = read_number(entry, "time"),
            .address = read_number(entry, "address"),
            .has_address = json_is_integer(json_object_get(entry, "address")),
            .signal = (uint32_t)read_number(entry, "signal"),
            .pid = (uint32_t)read_number(entry, "pid"),
            .tid = (uint32_t)read_number(entry, "tid"),
        };
    }
}

static void hits_from_json(struct session *session, const json_t *list)
{
    size_t count = json_array_size(list); /* 0 when there is no list */
    if (count == 0)
        return;
    session->hit_count = count;
    session->hits = arena_allocate(&session->memory, count * sizeof *session->hits);
    for (size_t i = 0; i < count; i++) {
        const json_t *entry = json_array_get(list, i);
        const json_t *argument = json_object_get(entry, "argument");
        session->hits[i] = (struct session_hit){
            .time = read_number(entry, "time"),
            .passed = read_number(entry, "passed"),
            .argument = json_integer_value(argument),
            .has_argument = json_is_integer(argument),
            .address = read_number(entry, "address"),
            .pid = (uint32_t)read_number(entry, "pid"),
            .tid = (uint32_t)read_number(entry, "tid"),
        };
    }
}

static void session_from_json(struct session *session, const json_t *root)
{
    struct arena *memory = &session->memory;
    session->version = read_string(root, "version", memory);
    session->engine = read_string(root, "engine", memory);
    session->clock = read_string(root, "clock", memory);
    session->callgraph = read_string(root, "callgraph", memory);
    session->command = command_from_json(json_object_get(root, "command"), memory);
    session->program = read_string(root, "program", memory);
    session->wall_clock_ns = read_number(root, "wall_clock_ns");
    session->wall_clock_at = read_number(root, "wall_clock_at");
    session->full_execution = read_boolean(root, "full_execution");
    session->multi_thread = read_boolean(root, "multi_thread");
    session->follow = read_boolean(root, "follow");
    session->switches = read_boolean(root, "switches");
    session->snapshot_size = read_number(root, "snapshot_size");
    const json_t *exit_status = json_object_get(root, "exit_status");
    session->exit_status = json_is_integer(exit_status) ? (int)json_integer_value(exit_status) : -1;
    session->instructions = read_number(root, "instructions");
    untraced_from_json(session, json_object_get(root, "untraced"));
    deaths_from_json(session, json_object_get(root, "deaths"));
    session->trigger = read_string(root, "trigger", memory);
    hits_from_json(session, json_object_get(root, "hits"));
}

static bool parse(struct session *session, const char *text, size_t size, const char *path,
                  struct error *error)
{
    json_error_t problem;
    json_t *root = json_loadb(text, size, 0, &problem);
    if (!json_is_object(root)) {
        error_set(
            error, ERROR_FORMAT,
            "cannot read %s, line %d: %s. The file is damaged; removing it lets the recording "
            "be decoded without it.",
            path, root ? 1 : problem.line, root ? "not a JSON object" : problem.text);
        json_decref(root);
        return false;
    }
    session_from_json(session, root);
    json_decref(root);
    return true;
}

/* Its largest parts, hits and untraced threads, are some hundred bytes each. */
static bool has_likely_size(const struct file_view *view, const char *path, struct error *error)
{
    const size_t largest = 64 << 20;
    if (view->size == 0)
        return error_set(error, ERROR_FORMAT,
                         "cannot read %s: it is empty. Removing it lets the recording be decoded "
                         "without it.",
                         path);
    return view->size <= largest ||
           error_set(
               error, ERROR_FORMAT,
               "%s is larger than 64 MB, which no session.json of magic-trace is; removing it "
               "lets the recording be decoded without it.",
               path);
}

bool session_read(struct session *session, const char *directory, struct error *error)
{
    *session = (struct session){.exit_status = -1};
    char *path = memory_format("%s/session.json", directory);
    struct file_view view = {0};
    bool ok = file_map(&view, path, error) && has_likely_size(&view, path, error) &&
              parse(session, (const char *)view.bytes, view.size, path, error);
    file_unmap(&view);
    free(path);
    return ok;
}

void session_free(struct session *session)
{
    arena_free(&session->memory);
    *session = (struct session){.exit_status = -1};
}
