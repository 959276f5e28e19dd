/* Options, formats and engines are each one row of a table: a new row shows up everywhere, and the
 * rows there are lack nothing. */
#include "base/file.h"
#include "base/memory.h"
#include "cli/command.h"
#include "cli/manual/option_list.h"
#include "cli/trace_format.h"
#include "engine/registry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Larger than the request of any command. */
static _Alignas(max_align_t) char request[1 << 16];

/* What `write` prints. The caller frees. */
static char *printed(void (*write)(FILE *stream, const struct command *command),
                     const struct command *command)
{
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    write(stream, command);
    assert_int_equal(fclose(stream), 0);
    return text;
}

static void assert_contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("`%s` is not in:\n%s", part, text);
}

static void assert_contains_item(const char *text, const char *macro, const char *name)
{
    char *item = memory_format("\n.It %s %s", macro, name);
    size_t length = strlen(item);
    const char *at = text;
    while ((at = strstr(at, item)) && at[length] != ' ' && at[length] != '\n')
        at += length;
    if (!at)
        fail_msg("there is no `%s` in:\n%s", item + 1, text);
    free(item);
}

/* ---- a row is all ---- */

struct made_up_request {
    bool flag;
    int word;
};

static bool word_at(size_t index, struct option_value *value)
{
    static const struct option_value words[] = {
        {"first", 1, "the first word", NULL},
        {"second", 2, "the other word", "Neither `first` nor a flag like -brief, see nm(1)."},
    };
    return option_value_of_table(words, sizeof words / sizeof *words, index, value);
}

static const struct option_spec made_up_options[] = {
    {.name = "brief",
     .letter = "b",
     .help = "say less",
     .apply = option_set_flag,
     .field = offsetof(struct made_up_request, flag)},
    {.name = "word",
     .argument = "WORD",
     .help = "which word",
     .manual = "The WORD of -brief:\n\n  as it is\n\nIt is in $HOME (or /tmp).",
     .values = word_at,
     .apply = option_set_value,
     .field = offsetof(struct made_up_request, word)},
    {0},
};
static const struct option_group made_up_groups[] = {{made_up_options, 0}, {0}};
static const struct command made_up = {
    .name = "made-up", .operands = "", .description = "Does nothing.\n", .options = made_up_groups};

static void a_row_is_on_the_help_page(void **state)
{
    (void)state;
    char *page = printed(command_print_help, &made_up);
    assert_contains(page, "  -brief, -b                  say less\n");
    assert_contains(page, "  -word WORD                  which word\n"
                          "                                first   the first word\n"
                          "                                second  the other word\n");
    free(page);
}

static void a_row_is_in_the_man_page(void **state)
{
    (void)state;
    char *list = printed(option_list_write, &made_up);
    assert_string_equal(list, ".It Fl brief , Fl b\n"
                              "Say less.\n"
                              ".It Fl word Ar word\n"
                              "The\n"
                              ".Ar word\n"
                              "of\n"
                              ".Fl brief :\n"
                              ".Bd -literal -offset indent\n"
                              "as it is\n"
                              ".Ed\n"
                              "It is in\n"
                              ".Ev HOME\n"
                              "(or\n"
                              ".Pa \"\\&/tmp\" ) .\n"
                              ".Bl -tag -width second\n"
                              ".It Cm first\n"
                              "The first word.\n"
                              ".It Cm second\n"
                              "Neither\n"
                              ".Cm \"\\&first\"\n"
                              "nor a flag like\n"
                              ".Fl brief ,\n"
                              "see\n"
                              ".Xr nm 1 .\n"
                              ".El\n");
    free(list);
}

static void a_row_is_applied(void **state)
{
    (void)state;
    struct made_up_request made = {0};
    char *words[] = {(char *)"made-up", (char *)"-b", (char *)"--word=second", NULL};
    assert_int_equal(command_read_options_alone(&made_up, 3, words, &made), COMMAND_GOES_ON);
    assert_true(made.flag);
    assert_int_equal(made.word, 2);
    char *unknown[] = {(char *)"made-up", (char *)"-word", (char *)"third", NULL};
    assert_int_equal(command_read_options_alone(&made_up, 3, unknown, &made), EXIT_STATUS_USAGE);
}

/* ---- the rows there are ---- */

/* The man page of a command as it was built. The caller frees. */
static char *read_man_page(const struct command *command)
{
    char *path = memory_format(MAN_PAGES "/magic-trace-%s.1", command->name);
    struct error error = {0};
    char *page = file_read(path, NULL, &error);
    if (!page)
        fail_msg("%s", error.text);
    free(path);
    return page;
}

static void check_option(const struct option_spec *option, const char *help, const char *man_page)
{
    if (!option->unavailable && !option->apply)
        fail_msg("-%s is not applied", option->name);
    if (!option->help)
        return;
    char *entry = memory_format("\n  -%s", option->name);
    assert_contains(help, entry);
    free(entry);
    assert_contains_item(man_page, "Fl", option->name);
    struct option_value value;
    for (size_t i = 0; option->values && option->values(i, &value); i++)
        if (value.summary)
            assert_contains_item(man_page, "Cm", value.name);
}

static void every_option_is_in_help_and_man_page(void **state)
{
    (void)state;
    for (const struct command *const *command = command_all(); *command; command++) {
        char *help = printed(command_print_help, *command);
        char *man_page = read_man_page(*command);
        struct option_row *options = command_options(*command);
        for (const struct option_row *row = options; row->spec; row++)
            check_option(row->spec, help, man_page);
        free(options);
        free(man_page);
        free(help);
    }
}

static void no_name_is_used_twice(void **state)
{
    (void)state;
    for (const struct command *const *command = command_all(); *command; command++) {
        struct option_row *options = command_options(*command);
        for (const struct option_row *row = options; row->spec; row++)
            for (const struct option_row *other = options; other < row; other++)
                assert_string_not_equal(row->spec->name, other->spec->name);
        free(options);
    }
}

/* Each format, engine, clock... can be chosen by the name that help and man page show. */
static void every_value_is_accepted(void **state)
{
    (void)state;
    size_t accepted = 0;
    for (const struct command *const *command = command_all(); *command; command++) {
        struct option_row *options = command_options(*command);
        for (const struct option_row *row = options; row->spec; row++) {
            struct option_value value;
            for (size_t i = 0; row->spec->values && row->spec->values(i, &value); i++) {
                memset(request, 0, sizeof request);
                assert_int_equal(
                    row->spec->apply(row->spec, *command, request + row->target, value.name), 0);
                accepted++;
            }
        }
        free(options);
    }
    assert_true(accepted > 20);
}

/* A text that names an option names one of a command, or of a program that it quotes. */
static bool is_option_of_any_command(const char *name, size_t length)
{
    for (const struct command *const *command = command_all(); *command; command++) {
        struct option_row *options = command_options(*command);
        bool found = false;
        for (const struct option_row *row = options; row->spec && !found; row++)
            found = strlen(row->spec->name) == length && memcmp(row->spec->name, name, length) == 0;
        free(options);
        if (found)
            return true;
    }
    return false;
}

static void texts_name_options_that_exist(void **state)
{
    (void)state;
    for (const struct command *const *command = command_all(); *command; command++) {
        char *list = printed(option_list_write, *command);
        for (const char *at = list; (at = strstr(at, "\n.Fl ")); at++) {
            const char *name = at + strlen("\n.Fl ");
            name += strncmp(name, "( ", 2) == 0 ? 2 : 0;
            size_t length = strcspn(name, " \n");
            if (!is_option_of_any_command(name, length))
                fail_msg("magic-trace %s: there is no -%.*s", (*command)->name, (int)length, name);
        }
        free(list);
    }
}

static void every_trace_format_has_a_writer(void **state)
{
    (void)state;
    const struct trace_format *format;
    assert_ptr_equal(trace_format_at(0), trace_format_default);
    for (size_t i = 0; (format = trace_format_at(i)); i++) {
        assert_non_null(format->write);
        assert_non_null(format->default_output);
        assert_non_null(format->summary);
    }
}

static void every_engine_can_be_chosen(void **state)
{
    (void)state;
    const struct engine *engine;
    for (size_t i = 0; (engine = engine_at(i)); i++) {
        assert_ptr_equal(engine_find(engine->name), engine);
        if (engine->former_name)
            assert_ptr_equal(engine_find(engine->former_name), engine);
        assert_non_null(engine->description);
        assert_non_null(engine->probe);
        assert_true(engine->record || engine->attach);
    }
    assert_null(engine_find("no such engine"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_is_on_the_help_page),
        cmocka_unit_test(a_row_is_in_the_man_page),
        cmocka_unit_test(a_row_is_applied),
        cmocka_unit_test(every_option_is_in_help_and_man_page),
        cmocka_unit_test(no_name_is_used_twice),
        cmocka_unit_test(every_value_is_accepted),
        cmocka_unit_test(texts_name_options_that_exist),
        cmocka_unit_test(every_trace_format_has_a_writer),
        cmocka_unit_test(every_engine_can_be_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
