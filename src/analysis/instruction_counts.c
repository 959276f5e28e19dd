#include "analysis/instruction_counts.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/printable.h"
#include "index/function_table.h"
#include "output/output_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char heading[] = "# magic-trace baseline 1: thread, calls, instructions, function";

int instruction_count_compare(const void *left, const void *right)
{
    const struct instruction_count *a = left, *b = right;
    int order = strcmp(a->thread, b->thread);
    return order ? order : strcmp(a->function, b->function);
}

static void sort_rows(struct array *rows)
{
    if (rows->count > 1)
        qsort(rows->elements, rows->count, rows->element_size, instruction_count_compare);
}

static void free_row(struct instruction_count *row)
{
    free(row->thread);
    free(row->function);
}

void instruction_counts_free(struct instruction_counts *counts)
{
    for (size_t i = 0; i < counts->rows.count; i++)
        free_row(array_at(&counts->rows, i));
    array_free(&counts->rows);
    free(counts->conditions.command);
    free(counts->conditions.engine);
    free(counts->conditions.processor);
    free(counts->conditions.environment);
}

/* ---- from a trace ---- */

static char *line_of(const char *text)
{
    char *line = printable_copy(text, PRINTABLE_NAME);
    return line ? line : memory_copy_string(text);
}

static void add_rows(struct instruction_counts *counts, const struct trace_index *index,
                     const char *thread, const struct array *functions)
{
    for (size_t i = 0; i < functions->count; i++) {
        const struct function_row *row = array_at(functions, i);
        struct index_function function = trace_index_function(index, row->group);
        if (function.colour == INDEX_SPECIAL)
            continue;
        *(struct instruction_count *)array_add(&counts->rows) = (struct instruction_count){
            line_of(thread), line_of(function.name), row->calls, row->self};
    }
}

static void merge_equal(struct array *rows)
{
    struct instruction_count *all = rows->elements;
    size_t kept = 0;
    for (size_t i = 0; i < rows->count; i++) {
        if (kept > 0 && instruction_count_compare(&all[kept - 1], &all[i]) == 0) {
            all[kept - 1].calls += all[i].calls;
            all[kept - 1].instructions += all[i].instructions;
            free_row(&all[i]);
        } else {
            all[kept++] = all[i];
        }
    }
    rows->count = kept;
}

bool instruction_counts_of_trace(struct instruction_counts *counts, const struct trace_index *index,
                                 struct counting_conditions conditions, struct error *error)
{
    *counts = (struct instruction_counts){
        .conditions = conditions,
        .rows = array_of(sizeof(struct instruction_count)),
    };
    const struct index_range range = {0, trace_index_facts(index)->duration + 1};
    bool ok = true;
    for (uint32_t i = 0; ok && i < trace_index_facts(index)->tracks; i++) {
        struct index_track track = trace_index_track(index, i);
        struct array functions = array_of(sizeof(struct function_row));
        ok = track.is_hits ||
             index_function_table(index, (struct index_tracks){&i, 1}, range, &functions, error);
        add_rows(counts, index, track.thread, &functions);
        array_free(&functions);
    }
    sort_rows(&counts->rows);
    merge_equal(&counts->rows);
    return ok;
}

/* ---- the file ---- */

static void write_conditions(FILE *stream, const struct counting_conditions *conditions)
{
    char *command = line_of(conditions->command);
    fprintf(stream, "%s\n# command: %s\n# engine: %s\n# processor: %s\n# exit status: %d\n",
            heading, command, conditions->engine, conditions->processor, conditions->status);
    if (conditions->environment)
        fprintf(stream, "# environment: %s\n", conditions->environment);
    free(command);
}

bool instruction_counts_write(const struct instruction_counts *counts, const char *path,
                              struct error *error)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (!stream)
        return error_set_errno(error, ERROR_IO, errno, "cannot make the baseline");
    write_conditions(stream, &counts->conditions);
    for (size_t i = 0; i < counts->rows.count; i++) {
        const struct instruction_count *row = array_at(&counts->rows, i);
        fprintf(stream, "%s\t%" PRIu64 "\t%" PRIu64 "\t%s\n", row->thread, row->calls,
                row->instructions, row->function);
    }
    fclose(stream);
    bool ok = output_file_write(path, text, size, error);
    free(text);
    return ok;
}

/* The value of a line `# key: value`; NULL: it has another key. */
static const char *value_of(const char *line, const char *key)
{
    size_t length = strlen(key);
    bool fits = strncmp(line, "# ", 2) == 0 && strncmp(line + 2, key, length) == 0 &&
                strncmp(line + 2 + length, ": ", 2) == 0;
    return fits ? line + 2 + length + 2 : NULL;
}

static void read_condition(struct counting_conditions *conditions, const char *line)
{
    const char *value;
    if ((value = value_of(line, "command")) && !conditions->command)
        conditions->command = memory_copy_string(value);
    else if ((value = value_of(line, "engine")) && !conditions->engine)
        conditions->engine = memory_copy_string(value);
    else if ((value = value_of(line, "processor")) && !conditions->processor)
        conditions->processor = memory_copy_string(value);
    else if ((value = value_of(line, "environment")) && !conditions->environment)
        conditions->environment = memory_copy_string(value);
    else if ((value = value_of(line, "exit status")))
        conditions->status = atoi(value);
}

static bool read_number(char **at, uint64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoull(*at, &end, 10);
    bool ok = errno == 0 && end != *at && **at != '-' && *end == '\t';
    *at = end + 1;
    return ok;
}

static bool read_row(struct array *rows, char *line)
{
    char *tab = strchr(line, '\t'), *at = tab ? tab + 1 : NULL;
    uint64_t calls, instructions;
    if (!at || !read_number(&at, &calls) || !read_number(&at, &instructions) || !*at)
        return false;
    *tab = 0;
    *(struct instruction_count *)array_add(rows) = (struct instruction_count){
        memory_copy_string(line), memory_copy_string(at), calls, instructions};
    return true;
}

static bool read_lines(struct instruction_counts *counts, char *text, const char *path,
                       struct error *error)
{
    size_t number = 0;
    for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
        number++;
        if (number == 1 && strcmp(line, heading) != 0)
            return error_set(error, ERROR_FORMAT,
                             "%s is no baseline of this version: make one with -update", path);
        if (*line == '#')
            read_condition(&counts->conditions, line);
        else if (*line && !read_row(&counts->rows, line))
            return error_set(error, ERROR_FORMAT,
                             "%s is damaged: line %zu is not a thread, two numbers and a function "
                             "with tabs between them. Make it again with -update",
                             path, number);
    }
    const struct counting_conditions *conditions = &counts->conditions;
    if (!conditions->command || !conditions->engine || !conditions->processor)
        return error_set(error, ERROR_FORMAT,
                         "%s is damaged: it does not say by which command, engine and processor "
                         "it was made. Make it again with -update",
                         path);
    return true;
}

bool instruction_counts_read(struct instruction_counts *counts, const char *path,
                             struct error *error)
{
    *counts = (struct instruction_counts){.rows = array_of(sizeof(struct instruction_count))};
    char *text = file_read(path, NULL, error);
    bool ok = text && read_lines(counts, text, path, error);
    free(text);
    sort_rows(&counts->rows);
    merge_equal(&counts->rows);
    return ok;
}
