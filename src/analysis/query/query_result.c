#include "analysis/query/query_result.h"

#include "base/array.h"
#include "base/memory.h"
#include "base/printable.h"
#include "output/csv_quoted.h"
#include "output/json_quoted.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How rows are written. */
struct result_writer {
    void (*begin)(struct result_writer *writer);
    void (*row)(struct result_writer *writer);
    void (*end)(struct result_writer *writer);
    sqlite3_stmt *statement;
    FILE *out;
    uint64_t rows;
    char **names;        /* of columns, as this form writes them; owned */
    struct array cells;  /* of char *: of the rows that wait to be aligned; owned */
    size_t *widths;      /* by column, in characters; owned */
    bool *right_aligned; /* by column; owned */
};

static int column_count(const struct result_writer *writer)
{
    return sqlite3_column_count(writer->statement);
}

static bool is_number(const struct result_writer *writer, int column)
{
    int type = sqlite3_column_type(writer->statement, column);
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

/* A blob as hexadecimal digits, NULL as an empty text, all else as SQLite writes it. The caller
 * frees. */
static char *text_of(const struct result_writer *writer, int column)
{
    sqlite3_stmt *statement = writer->statement;
    if (sqlite3_column_type(statement, column) != SQLITE_BLOB) {
        const unsigned char *text = sqlite3_column_text(statement, column);
        return memory_copy_string(text ? (const char *)text : "");
    }
    size_t size = (size_t)sqlite3_column_bytes(statement, column);
    const unsigned char *bytes = sqlite3_column_blob(statement, column);
    char *digits = memory_allocate(2 * size + 1);
    for (size_t i = 0; i < size; i++)
        snprintf(digits + 2 * i, 3, "%02x", bytes[i]);
    digits[2 * size] = 0;
    return digits;
}

/* ---- a table for people ---- */

/* So many rows decide how wide the columns are. */
enum { ALIGNED_ROWS = 1000, WIDTH_MAX = 100 };

static size_t characters_of(const char *text)
{
    size_t characters = 0;
    for (; *text; text++)
        characters += (*text & 0xc0) != 0x80;
    return characters;
}

static char *printable_cell(char *text)
{
    char *printable = printable_copy(text, PRINTABLE_NAME);
    if (!printable)
        return text;
    free(text);
    return printable;
}

static void put_padding(FILE *out, size_t count)
{
    while (count-- > 0)
        fputc(' ', out);
}

static void put_cells(struct result_writer *writer, char *const *cells)
{
    for (int i = 0; i < column_count(writer); i++) {
        size_t characters = characters_of(cells[i]);
        size_t padding = characters < writer->widths[i] ? writer->widths[i] - characters : 0;
        bool is_last = i + 1 == column_count(writer);
        if (writer->right_aligned[i])
            put_padding(writer->out, padding);
        fputs(cells[i], writer->out);
        if (!writer->right_aligned[i] && !is_last)
            put_padding(writer->out, padding);
        fputs(is_last ? "\n" : "  ", writer->out);
    }
}

static void widen(struct result_writer *writer, int column, const char *cell)
{
    size_t characters = characters_of(cell);
    if (characters > WIDTH_MAX)
        characters = WIDTH_MAX;
    if (characters > writer->widths[column])
        writer->widths[column] = characters;
}

static void begin_table(struct result_writer *writer)
{
    for (int i = 0; i < column_count(writer); i++) {
        writer->names[i] =
            printable_cell(memory_copy_string(sqlite3_column_name(writer->statement, i)));
        widen(writer, i, writer->names[i]);
    }
}

/* The rows that waited, under the columns' names. */
static void put_waiting(struct result_writer *writer)
{
    size_t columns = (size_t)column_count(writer);
    char **cells = writer->cells.elements;
    put_cells(writer, writer->names);
    for (size_t i = 0; i < writer->cells.count; i += columns)
        put_cells(writer, cells + i);
    for (size_t i = 0; i < writer->cells.count; i++)
        free(cells[i]);
    array_free(&writer->cells);
}

static void put_table_row(struct result_writer *writer)
{
    size_t columns = (size_t)column_count(writer);
    bool waits = writer->rows < ALIGNED_ROWS;
    if (writer->rows == ALIGNED_ROWS)
        put_waiting(writer);
    for (int i = 0; i < (int)columns; i++) {
        char *cell = printable_cell(text_of(writer, i));
        *(char **)array_add(&writer->cells) = cell;
        if (!waits)
            continue;
        widen(writer, i, cell);
        writer->right_aligned[i] |= is_number(writer, i);
    }
    if (waits)
        return;
    put_cells(writer, writer->cells.elements);
    for (size_t i = 0; i < columns; i++)
        free(((char **)writer->cells.elements)[i]);
    writer->cells.count = 0;
}

static void end_table(struct result_writer *writer)
{
    if (writer->rows <= ALIGNED_ROWS)
        put_waiting(writer);
}

/* ---- CSV ---- */

static void begin_csv(struct result_writer *writer)
{
    for (int i = 0; i < column_count(writer); i++) {
        char *name = csv_quoted(sqlite3_column_name(writer->statement, i));
        fprintf(writer->out, "%s%s", i ? "," : "", name);
        free(name);
    }
    fputc('\n', writer->out);
}

static void put_csv_row(struct result_writer *writer)
{
    for (int i = 0; i < column_count(writer); i++) {
        char *text = text_of(writer, i);
        char *cell = is_number(writer, i) ? NULL : csv_quoted(text);
        fprintf(writer->out, "%s%s", i ? "," : "", cell ? cell : text);
        free(cell);
        free(text);
    }
    fputc('\n', writer->out);
}

static void end_csv(struct result_writer *writer)
{
    (void)writer;
}

/* ---- JSON ---- */

static bool is_used(const struct result_writer *writer, int columns, const char *name)
{
    for (int i = 0; i < columns; i++)
        if (strcmp(writer->names[i], name) == 0)
            return true;
    return false;
}

/* Objects have each name once. */
static void begin_json(struct result_writer *writer)
{
    for (int i = 0; i < column_count(writer); i++) {
        const char *name = sqlite3_column_name(writer->statement, i);
        char *quoted = json_quoted(name);
        for (int number = 2; is_used(writer, i, quoted); number++) {
            free(quoted);
            char *numbered = memory_format("%s_%d", name, number);
            quoted = json_quoted(numbered);
            free(numbered);
        }
        writer->names[i] = quoted;
    }
    fputc('[', writer->out);
}

static void put_json_value(struct result_writer *writer, int column)
{
    if (sqlite3_column_type(writer->statement, column) == SQLITE_NULL ||
        (sqlite3_column_type(writer->statement, column) == SQLITE_FLOAT &&
         !isfinite(sqlite3_column_double(writer->statement, column)))) {
        fputs("null", writer->out);
        return;
    }
    char *text = text_of(writer, column);
    char *quoted = is_number(writer, column) ? NULL : json_quoted(text);
    fputs(quoted ? quoted : text, writer->out);
    free(quoted);
    free(text);
}

static void put_json_row(struct result_writer *writer)
{
    fputs(writer->rows ? ",\n {" : "\n {", writer->out);
    for (int i = 0; i < column_count(writer); i++) {
        fprintf(writer->out, "%s%s: ", i ? ", " : "", writer->names[i]);
        put_json_value(writer, i);
    }
    fputc('}', writer->out);
}

static void end_json(struct result_writer *writer)
{
    fputs(writer->rows ? "\n]\n" : "]\n", writer->out);
}

/* ---- the whole ---- */

static struct result_writer writer_of(enum query_form form)
{
    switch (form) {
    case QUERY_CSV:
        return (struct result_writer){.begin = begin_csv, .row = put_csv_row, .end = end_csv};
    case QUERY_JSON:
        return (struct result_writer){.begin = begin_json, .row = put_json_row, .end = end_json};
    default:
        return (struct result_writer){.begin = begin_table, .row = put_table_row, .end = end_table};
    }
}

static void free_writer(struct result_writer *writer)
{
    for (int i = 0; i < column_count(writer); i++)
        free(writer->names[i]);
    free(writer->names);
    free(writer->widths);
    free(writer->right_aligned);
    array_free(&writer->cells);
}

/* Writes the row if it fits what is left of the budget. */
static bool put_row_within(struct result_writer *writer, size_t *left)
{
    char *text = NULL;
    size_t size;
    FILE *out = writer->out;
    writer->out = open_memstream(&text, &size);
    if (writer->out) {
        writer->row(writer);
        fclose(writer->out);
    }
    writer->out = out;
    bool fits = text && (size <= *left || writer->rows == 0);
    if (fits) {
        fwrite(text, 1, size, out);
        *left -= size < *left ? size : *left;
    }
    free(text);
    return fits;
}

/* The status after the last row that was written. */
static int put_rows(struct result_writer *writer, struct read_only_database *database, int status,
                    size_t max_bytes, struct query_written *written, struct error *error)
{
    size_t left = max_bytes;
    for (; status == SQLITE_ROW && !ferror(writer->out); writer->rows++) {
        if (max_bytes == 0)
            writer->row(writer);
        else if (!put_row_within(writer, &left)) {
            written->cut = true;
            return SQLITE_DONE;
        }
        status = read_only_database_step(database, writer->statement, error);
    }
    return status;
}

/* A query that fails before its first row has written nothing. */
bool query_result_write(struct read_only_database *database, sqlite3_stmt *statement,
                        enum query_form form, size_t max_bytes, FILE *out,
                        struct query_written *written, struct error *error)
{
    struct result_writer writer = writer_of(form);
    writer.statement = statement;
    writer.out = out;
    size_t columns = (size_t)sqlite3_column_count(statement);
    writer.names = memory_allocate_zeroed(columns * sizeof *writer.names);
    writer.widths = memory_allocate_zeroed(columns * sizeof *writer.widths);
    writer.right_aligned = memory_allocate_zeroed(columns * sizeof *writer.right_aligned);
    writer.cells = array_of(sizeof(char *));
    *written = (struct query_written){0};
    int status = read_only_database_step(database, statement, error);
    bool ok = status == SQLITE_ROW || status == SQLITE_DONE;
    if (ok) {
        writer.begin(&writer);
        status = put_rows(&writer, database, status, max_bytes, written, error);
        writer.end(&writer);
        ok = status == SQLITE_DONE || ferror(out);
    }
    if (ferror(out) || fflush(out) != 0)
        ok = error_set_errno(error, ERROR_IO, errno, "cannot write the rows");
    written->rows = writer.rows;
    free_writer(&writer);
    return ok;
}
