#include "counts/source_listing.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The lines that are shown of a file. */
struct shown_lines {
    uint32_t file, first, last;
};

static bool path_ends_with(const char *path, const char *end)
{
    size_t length = strlen(path), wanted = strlen(end);
    return wanted > 0 && wanted <= length && strcmp(path + length - wanted, end) == 0 &&
           (wanted == length || *end == '/' || path[length - wanted - 1] == '/');
}

static void show_line(struct array *shown, const struct line_count *line)
{
    for (size_t i = 0; i < shown->count; i++) {
        struct shown_lines *known = array_at(shown, i);
        if (known->file != line->file)
            continue;
        known->first = line->line < known->first ? line->line : known->first;
        known->last = line->line > known->last ? line->line : known->last;
        return;
    }
    *(struct shown_lines *)array_add(shown) =
        (struct shown_lines){line->file, line->line, line->line};
}

static void find_files(const struct line_counts *lines, const char *wanted, struct array *shown)
{
    for (size_t i = 0; i < lines->files.count; i++)
        if (path_ends_with(*(const char **)array_at(&lines->files, i), wanted))
            *(struct shown_lines *)array_add(shown) =
                (struct shown_lines){(uint32_t)i, 1, UINT32_MAX};
}

/* The lines of the file in which the function begins. What is inlined into it may be elsewhere. */
static void find_function(const struct code_counts *counts, const struct line_counts *lines,
                          const char *wanted, struct array *shown)
{
    function_id newest = FUNCTION_UNKNOWN;
    uint32_t file = UINT32_MAX;
    for (size_t i = 0; i < counts->instructions.count; i++) {
        const struct instruction_count *at = array_at(&counts->instructions, i);
        uint32_t index = *(uint32_t *)array_at(&lines->of_code, i);
        function_id function = code_counts_function(counts, &at->at).function;
        if (index == 0 ||
            !code_counts_is_called(symbols_function(counts->symbols, function), wanted))
            continue;
        const struct line_count *line = array_at(&lines->lines, index - 1);
        if (function != newest)
            file = line->file;
        newest = function;
        if (line->file == file)
            show_line(shown, line);
    }
}

/* NULL: it cannot be read. The caller closes it. */
static FILE *open_source(const char *path, const struct source_root *root)
{
    size_t length = root->from ? strlen(root->from) : 0;
    if (length == 0 || strncmp(path, root->from, length) != 0)
        return fopen(path, "re");
    char *moved = memory_format("%s%s", root->to, path + length);
    FILE *file = fopen(moved, "re");
    free(moved);
    return file;
}

static void print_count(const struct line_count *line, FILE *stream)
{
    if (!line)
        fprintf(stream, "%12s  %14s", "", "");
    else if (line->count == 0 && line->cost == 0)
        fprintf(stream, "%12s  %14s", "never", "");
    else
        fprintf(stream, "%12" PRIu64 "  %14" PRIu64, line->count, line->cost);
}

/* Without its text, the lines that have code alone. */
static void print_without_text(const struct line_counts *lines, const struct shown_lines *shown,
                               FILE *stream)
{
    for (size_t i = 0; i < lines->lines.count; i++) {
        const struct line_count *line = array_at(&lines->lines, i);
        if (line->file != shown->file || line->line < shown->first || line->line > shown->last)
            continue;
        print_count(line, stream);
        fprintf(stream, "  %6" PRIu32 "\n", line->line);
    }
}

static void print_text(const struct line_counts *lines, const struct shown_lines *shown,
                       FILE *source, FILE *stream)
{
    char *text = NULL;
    size_t room = 0;
    for (uint32_t number = 1; number <= shown->last && getline(&text, &room, source) >= 0;
         number++) {
        if (number < shown->first)
            continue;
        text[strcspn(text, "\n")] = 0;
        print_count(line_counts_at(lines, shown->file, number), stream);
        fprintf(stream, "  %6" PRIu32 "  %s\n", number, text);
    }
    free(text);
}

static void print_file(const struct line_counts *lines, const struct shown_lines *shown,
                       const struct source_root *root, FILE *stream)
{
    const char *path = *(const char **)array_at(&lines->files, shown->file);
    FILE *source = open_source(path, root);
    fprintf(stream, "%s%s\n%12s  %14s  %6s\n", path,
            source ? "" : " (its text is not here: see -source-root)", "executed", "instructions",
            "line");
    if (source) {
        print_text(lines, shown, source, stream);
        fclose(source);
    } else {
        print_without_text(lines, shown, stream);
    }
    fputc('\n', stream);
}

/* Lines that have code. */
static void add_json(const struct line_counts *lines, const struct shown_lines *shown,
                     struct json_report *json)
{
    for (size_t i = 0; i < lines->lines.count; i++) {
        const struct line_count *line = array_at(&lines->lines, i);
        if (line->file != shown->file || line->line < shown->first || line->line > shown->last)
            continue;
        char *file = json_member("file", *(const char **)array_at(&lines->files, shown->file));
        json_report_add(json,
                        memory_format("{%s, \"line\": %" PRIu32 ", \"executed\": %" PRIu64
                                      ", \"instructions\": %" PRIu64 "}",
                                      file, line->line, line->count, line->cost),
                        line->cost);
        free(file);
    }
}

bool source_listing_print(const struct code_counts *counts, const char *wanted,
                          const struct source_root *root, struct json_report *json, FILE *stream,
                          struct error *error)
{
    struct line_counts lines;
    struct array shown = array_of(sizeof(struct shown_lines));
    line_counts_find(&lines, counts);
    find_files(&lines, wanted, &shown);
    if (shown.count == 0)
        find_function(counts, &lines, wanted, &shown);
    for (size_t i = 0; i < shown.count; i++)
        if (json)
            add_json(&lines, array_at(&shown, i), json);
        else
            print_file(&lines, array_at(&shown, i), root, stream);
    bool found = shown.count > 0;
    array_free(&shown);
    line_counts_free(&lines);
    return found || error_set(error, ERROR_NOT_FOUND,
                              "-source: no code of a file or function called %s ran in what is "
                              "shown, or it has no debug information (compile with -g).",
                              wanted);
}
