/* Functions by the names that users write, and names cut short for sentences. */
#include "analysis/function_choice.h"

#include "base/short_name.h"
#include "index_test.h"
#include "span_script.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct trace_index *make(struct span_script *script)
{
    static const char *const names[] = {"parse(char const*)",
                                        "f(int)",
                                        "f(double)",
                                        "main",
                                        "main.(*Server).handle",
                                        "shop::Cart<int>::add(Item const&)",
                                        "shop::pay",
                                        "bank::pay(int)",
                                        "other::main"};
    uint32_t track = span_script_track(script, 1, 1, "p", "t");
    span_script_function(script, "parse(char const*)")->symbol = "_Z5parsePKc";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        span_script_enter(script, track, 10 * i, names[i]);
        span_script_leave(script, track, 10 * i + 5);
    }
    return index_source(span_script_source(script));
}

static void check(const struct trace_index *index, const char *text, const char *name,
                  uint64_t ordinal)
{
    struct function_choice choice;
    struct error error = {0};
    assert_true(function_choose(index, text, &choice, &error));
    assert_string_equal(trace_index_function(index, choice.group).name, name);
    assert_int_equal(choice.ordinal, ordinal);
}

static void check_refused(const struct trace_index *index, const char *text, enum error_code code,
                          const char *words)
{
    struct function_choice choice;
    struct error error = {0};
    assert_false(function_choose(index, text, &choice, &error));
    assert_int_equal(error.code, code);
    assert_non_null(strstr(error.text, words));
}

static void functions_by_name(void **state)
{
    struct span_script *script = span_script_new();
    struct trace_index *index = make(script);
    check(index, "main", "main", 0);
    check(index, "main#1", "main", 1);
    check(index, "parse", "parse(char const*)", 0);
    check(index, "parse#12", "parse(char const*)", 12);
    check(index, "_Z5parsePKc", "parse(char const*)", 0);
    check(index, "f(double)", "f(double)", 0);
    check(index, "handle#2", "main.(*Server).handle", 2);
    check(index, "add", "shop::Cart<int>::add(Item const&)", 0);
    check_refused(index, "pay", ERROR_USAGE, "bank::pay");
    check_refused(index, "ay", ERROR_NOT_FOUND, "no call");
    check_refused(index, "f", ERROR_USAGE, "f(int)");
    check_refused(index, "mian", ERROR_NOT_FOUND, "main");
    check_refused(index, "main#0", ERROR_USAGE, "count from 1");
    check_refused(index, "", ERROR_NOT_FOUND, "no call");
    trace_index_close(index);
    span_script_free(script);
}

static void check_short(const char *name, const char *expected)
{
    char *shortened = short_name(name);
    assert_string_equal(shortened, expected);
    free(shortened);
}

static void names_in_sentences(void **state)
{
    check_short("main", "main");
    check_short("", "");
    check_short("f(int, char const*)", "f");
    check_short("std::vector<int, std::allocator<int> >::push_back(int&&)",
                "std::vector<>::push_back");
    check_short("main::{lambda(bool)#5}::operator()(bool) const",
                "main::{lambda(bool)#5}::operator()");
    check_short("operator<<(std::ostream&, Point const&)", "operator<<");
    check_short("bool operator< <char>(Text<char> const&)", "operator< <>");
    check_short("Set::operator->() const", "Set::operator->");
    check_short("Set::operator[](unsigned long)", "Set::operator[]");
    check_short("void std::_Destroy<Node*>(Node*)", "std::_Destroy<>");
    check_short("(anonymous namespace)::f(int)", "(anonymous namespace)::f");
    check_short("<T as core::fmt::Display>::fmt", "<T as core::fmt::Display>::fmt");
    check_short("main.(*Server).handle", "main.(*Server).handle");
    check_short("f(int) [clone .cold]", "f");
    check_short("[syscall]", "[syscall]");
    check_short("a<b", "a<b");
    check_short("f(", "f(");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_by_name),
        cmocka_unit_test(names_in_sentences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
