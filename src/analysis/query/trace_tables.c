#include "analysis/query/trace_tables.h"

#include "base/memory.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct trace_table *const tables[] = {
    &calls_table, &functions_table, &threads_table, &stacks_table,   &places_table, &args_table,
    &hits_table,  &marks_table,     &gaps_table,    &counters_table, &trace_table,
};

const struct trace_table *trace_table_at(size_t index)
{
    return index < sizeof tables / sizeof *tables ? tables[index] : NULL;
}

/* ---- a trace for the tables ---- */

struct table_trace *table_trace_new(const struct trace_index *index)
{
    const struct index_facts *facts = trace_index_facts(index);
    struct table_trace *trace = memory_allocate(sizeof *trace);
    *trace = (struct table_trace){
        .index = index,
        .numbers = call_numbers_new(index),
        .off_cpu = off_cpu_times_new(index, OFF_CPU_ALL),
        .functions = memory_allocate((facts->functions + 1) * sizeof(char *)),
        .processes = memory_allocate((facts->tracks + 1) * sizeof(char *)),
        .threads = memory_allocate((facts->tracks + 1) * sizeof(char *)),
    };
    for (uint32_t i = 0; i < facts->functions; i++) {
        const struct index_function function = trace_index_function(index, i);
        trace->functions[i] = function.group == i ? utf8_repaired(function.name) : NULL;
    }
    for (uint32_t i = 0; i < facts->tracks; i++) {
        const struct index_track track = trace_index_track(index, i);
        trace->processes[i] = utf8_repaired(track.process);
        trace->threads[i] = utf8_repaired(track.thread);
    }
    return trace;
}

void table_trace_free(struct table_trace *trace)
{
    const struct index_facts *facts = trace_index_facts(trace->index);
    for (uint32_t i = 0; i < facts->functions; i++)
        free(trace->functions[i]);
    for (uint32_t i = 0; i < facts->tracks; i++) {
        free(trace->processes[i]);
        free(trace->threads[i]);
    }
    free(trace->functions);
    free(trace->processes);
    free(trace->threads);
    call_numbers_free(trace->numbers);
    off_cpu_times_free(trace->off_cpu);
    free(trace);
}

/* ---- connections ---- */

char *trace_table_declaration(const struct trace_table *table)
{
    sqlite3_str *text = sqlite3_str_new(NULL);
    sqlite3_str_appendf(text, "CREATE TABLE %s(", table->name);
    for (size_t i = 0; i < table->column_count; i++)
        sqlite3_str_appendf(text, "%s\"%s\" %s", i ? ", " : "", table->columns[i].name,
                            table->columns[i].type);
    sqlite3_str_appendall(text, ")");
    return sqlite3_str_finish(text);
}

/* What SQLite hands to connect_table(). */
struct registered_table {
    struct table_trace *trace;
    const struct trace_table *table;
};

int connect_table(sqlite3 *database, void *client, int count, const char *const *arguments,
                  sqlite3_vtab **table, char **message)
{
    (void)count;
    (void)arguments;
    (void)message;
    const struct registered_table *registered = client;
    char *declaration = trace_table_declaration(registered->table);
    int status = declaration ? sqlite3_declare_vtab(database, declaration) : SQLITE_NOMEM;
    sqlite3_free(declaration);
    if (status != SQLITE_OK)
        return status;
    struct connected_table *connected = memory_allocate_zeroed(sizeof *connected);
    connected->trace = registered->trace;
    connected->table = registered->table;
    *table = &connected->base;
    return SQLITE_OK;
}

int disconnect_table(sqlite3_vtab *table)
{
    free(table);
    return SQLITE_OK;
}

bool trace_tables_register(sqlite3 *database, struct table_trace *trace, const char *prefix,
                           struct error *error)
{
    for (size_t i = 0; trace_table_at(i); i++) {
        const struct trace_table *table = trace_table_at(i);
        struct registered_table *registered = memory_allocate(sizeof *registered);
        *registered = (struct registered_table){trace, table};
        char *name = memory_format("%s%s", prefix, table->name);
        /* SQLite frees `registered` in any case. */
        int status = sqlite3_create_module_v2(
            database, name, table->make ? &made_rows_module : &calls_module, registered, free);
        free(name);
        if (status != SQLITE_OK)
            return error_set(error, ERROR_IO, "cannot make the table %s: %s", table->name,
                             sqlite3_errstr(status));
    }
    return true;
}

int fail_table(sqlite3_vtab *table, const struct error *error)
{
    sqlite3_free(table->zErrMsg);
    table->zErrMsg = sqlite3_mprintf("%s", error->text);
    return error->code == ERROR_FORMAT ? SQLITE_CORRUPT_VTAB : SQLITE_ERROR;
}

/* ---- values ---- */

void put_text(sqlite3_context *context, const char *text)
{
    sqlite3_result_text(context, text, -1, SQLITE_STATIC);
}

void put_repaired_text(sqlite3_context *context, const char *text)
{
    if (text)
        sqlite3_result_text(context, utf8_repaired(text), -1, free);
}

/* Times end below 2^62 (index_format.h), and addresses are not put as numbers. */
void put_number(sqlite3_context *context, uint64_t number)
{
    sqlite3_result_int64(context, (sqlite3_int64)number);
}

void put_number_or_null(sqlite3_context *context, uint64_t number)
{
    if (number)
        put_number(context, number);
}

void put_address(sqlite3_context *context, uint64_t address)
{
    char text[24];
    if (!address)
        return;
    snprintf(text, sizeof text, "0x%" PRIx64, address);
    sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

static const char *origin_word(enum index_colour colour)
{
    static const char *const WORDS[] = {
        [INDEX_OWN] = "own",         [INDEX_LIBRARY] = "library", [INDEX_KERNEL] = "kernel",
        [INDEX_INLINED] = "inlined", [INDEX_SPECIAL] = "special",
    };
    return WORDS[colour];
}

void put_function_fact(sqlite3_context *context, const struct index_function *function,
                       enum function_fact fact)
{
    switch (fact) {
    case FACT_SYMBOL:
        put_repaired_text(context, function->symbol);
        break;
    case FACT_FILE:
        put_repaired_text(context, function->file);
        break;
    case FACT_LINE:
        put_number_or_null(context, function->line);
        break;
    case FACT_ADDRESS:
        put_address(context, function->address);
        break;
    case FACT_CODE:
        put_text(context, origin_word(function->colour));
        break;
    }
}
