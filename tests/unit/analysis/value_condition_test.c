/* Conditions on recorded arguments and results: what is one, and of which values it holds. */
#include "analysis/value_condition.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct named_value list[] = {
    {.name = "size", .text = "4096", .kind = NAMED_UNSIGNED, .unsigned_number = 4096},
    {.name = "delta", .text = "-3", .kind = NAMED_SIGNED, .signed_number = -3},
    {.name = "mask",
     .text = "0xffffffffffffffff",
     .kind = NAMED_UNSIGNED,
     .unsigned_number = UINT64_MAX},
    {.name = "real", .text = "0.5", .kind = NAMED_FLOAT, .real = 0.5},
    {.name = "name", .text = "\"a, (b)\\n\"", .kind = NAMED_TEXT, .string = "a, (b)\n"},
    {.name = "colour", .text = "RED", .kind = NAMED_TEXT},
    {.name = "yes", .text = "true", .kind = NAMED_UNSIGNED, .unsigned_number = 1},
    {.name = "#8", .text = "1", .kind = NAMED_UNSIGNED, .unsigned_number = 1},
    {.name = "result", .text = "nan", .kind = NAMED_FLOAT, .real = __builtin_nan("")},
};
static const struct named_values values = {
    .values = list, .count = sizeof list / sizeof *list, .has_result = true};

static bool holds(const char *text)
{
    struct value_condition condition;
    assert_true(value_condition_parse(&condition, text));
    bool is_true = value_condition_holds(&condition, &values);
    value_condition_free(&condition);
    return is_true;
}

static void test_numbers(void **state)
{
    (void)state;
    assert_true(holds("parse(size>4095)"));
    assert_true(holds("parse(size > 0xfff, size<=4096, size != -4096)"));
    assert_true(holds("(size==4096.0 && delta<0 && delta>=-3)"));
    assert_false(holds("(size>4096)"));
    assert_false(holds("(size>4095, delta>0)"));
    /* Not as signed numbers, and not as doubles. */
    assert_true(holds("(mask>-1)"));
    assert_false(holds("(mask=18446744073709551614)"));
    assert_true(holds("(real<0.6, real=5e-1, real>-1)"));
    assert_false(holds("(result=0)") || holds("(result<1)") || holds("(result>=1)"));
    assert_true(holds("(result!=0)"));
    assert_true(holds("(#8=1)"));
}

static void test_texts(void **state)
{
    (void)state;
    assert_true(holds("f(name=\"a, (b)\\n\")"));
    assert_true(holds("f(name~\"(b\", colour=RED)"));
    assert_false(holds("f(colour=\"red\")"));
    assert_true(holds("f(colour!=BLUE, colour>BLUE)"));
    assert_true(holds("f(yes=true, yes=1)"));
    assert_true(holds("f(size~09)"));
    assert_false(holds("f(none=1)") || holds("f(none!=1)"));
}

static void test_what_is_a_name(void **state)
{
    static const char *const names[] = {
        "",           "parse",   "f(int)",    "operator==(a, b)", "f(",
        "f()",        "f(size)", "f(size>)",  "f(size>1",         "f(size>1) const",
        "f(size>1,)", "f(>1)",   "f(name=\"", "f(a=1 b=2",        "std::less<int>"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct value_condition condition;
        assert_false(value_condition_parse(&condition, names[i]));
    }
    struct value_condition condition;
    assert_true(value_condition_parse(&condition, "a::f(int) (size=1) "));
    assert_string_equal(condition.function, "a::f(int)");
    value_condition_free(&condition);
}

static void test_numbers_of_texts(void **state)
{
    static const struct {
        const char *text;
        enum named_value_kind kind;
        int64_t number;
    } cases[] = {
        {"12", NAMED_UNSIGNED, 12},   {"-5 '\\373'", NAMED_SIGNED, -5},
        {"true", NAMED_UNSIGNED, 1},  {"false", NAMED_UNSIGNED, 0},
        {"RED", NAMED_TEXT, 0},       {"\"12\"", NAMED_TEXT, 0},
        {"12 apples", NAMED_TEXT, 0}, {"-", NAMED_TEXT, 0},
        {"", NAMED_TEXT, 0},          {"18446744073709551615", NAMED_UNSIGNED, -1},
        {"{x = 1}", NAMED_TEXT, 0},   {"28446744073709551615", NAMED_TEXT, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct named_value value = {.text = cases[i].text, .kind = NAMED_TEXT};
        named_value_read_number(&value);
        assert_int_equal(value.kind, cases[i].kind);
        assert_int_equal(value.signed_number, cases[i].number);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_what_is_a_name),
        cmocka_unit_test(test_numbers_of_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
