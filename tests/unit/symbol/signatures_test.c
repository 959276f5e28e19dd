/* Where arguments and results are that are no plain numbers, as gcc and clang pass them. What the two do not do alike is unknown.
 */
#include "symbol/dwarf/signatures.h"
#include "symbol_fixture.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A function, and the places of its arguments and its result: registers and xmm with their bytes, "stack" with the offset, "memory" for the address of
 * a result, "?" for what is not known, and not passed. */
struct expected {
    const char *source;
    const char *places;
};

static const struct expected in_c[] = {
    {"float _Complex f(float _Complex z, float x)", "xmm0.8 xmm1.4 -> xmm0.8"},
    {"double _Complex f(double _Complex z, double x, int n)",
     "xmm0.8+xmm1.8 xmm2.8 r7.4 -> xmm0.8+xmm1.8"},
    {"int f(int _Complex z, long _Complex w, int n)", "r7.8 r6.8+r2.8 r1.4 -> r0.4"},
    {"double f(double a, double b, double c, double d, double e, double g, double h, double "
     "_Complex z, double x)",
     "xmm0.8 xmm1.8 xmm2.8 xmm3.8 xmm4.8 xmm5.8 xmm6.8 stack0.16 xmm7.8 -> xmm0.8"},
    {"long double f(long double x, int n, long double y)", "stack0.16 r7.4 stack16.16 -> ?"},
    {"struct S { long double l; }; struct S f(int a, struct S s)", "r7.4 stack0.16 -> ?"},
    {"__float128 f(__float128 q, double x)", "xmm0.16 xmm1.8 -> xmm0.16"},
    {"struct S { __float128 q; }; int f(int a, struct S s, int b)", "r7.4 ? ? -> r0.4"},
    {"struct __attribute__((packed)) S { char c; long l; }; struct S f(struct S s, int n)",
     "stack0.9 r6.4 -> memory"},
    {"struct __attribute__((packed)) S { int a : 20, b : 20; }; struct S f(struct S s, int n)",
     "r7.5 r6.4 -> r0.5"},
    {"struct S { double d; int : 32; }; int f(int a, struct S s, int b)", "r7.4 ? ? -> r0.4"},
    {"struct S { }; int f(struct S s, int b)", "? r7.4 -> r0.4"},
    {"struct S { int : 5; }; int f(struct S s, int b)", "? ? -> r0.4"},
    {"struct S { int a; char rest[]; }; int f(int a, struct S s, int b)", "r7.4 ? ? -> r0.4"},
    {"struct S { int a[0]; float x; }; int f(struct S s, int b)", "xmm0.4 r7.4 -> r0.4"},
    {"struct S { int a; } __attribute__((aligned(16))); struct S f(struct S s, int b)",
     "r7.8+r0.8 r6.4 -> r0.8+r0.8"},
    {"struct S { float v __attribute__((vector_size(16))); }; struct S f(struct S s, float x)",
     "xmm0.16 xmm1.4 -> xmm0.16"},
    {"union U { float v __attribute__((vector_size(16))); double d[2]; }; int f(union U u, float "
     "x)",
     "xmm0.8+xmm1.8 xmm2.4 -> r0.4"},
    {"union U { long double l; int n; }; union U f(union U u, int n)", "stack0.16 r6.4 -> memory"},
    {"struct S { long a[4]; } __attribute__((aligned(32))); int f(int a, int b, int c, int d, int "
     "e, int g, int h, struct S s, int i)",
     "r7.4 r6.4 r2.4 r1.4 r8.4 r9.4 stack0.4 stack32.32 stack64.4 -> r0.4"},
    {"int f(int a, int b, int c, int d, int e, __int128 i, int g)",
     "r7.4 r6.4 r2.4 r1.4 r8.4 ? ? -> r0.4"},
    {"typedef long V __attribute__((vector_size(32))); struct S { V v; int n; }; int f(int a, "
     "struct S s, int b)",
     "r7.4 stack0.64 r6.4 -> r0.4"},
};

static const struct expected in_cpp[] = {
    {"struct S { }; struct S f(S s, int a, int b)", "? r7.4 r6.4 -> ?"},
    {"struct S { }; struct T : S { }; struct U { T t[3]; }; int f(U u, int a)", "? r7.4 -> r0.4"},
    {"struct S { }; struct T { double d; S s; }; int f(T t, int a)", "xmm0.8+r0.8 r7.4 -> r0.4"},
    {"struct S { }; struct T : S { float a, b; }; int f(T t, int a)", "xmm0.8 r7.4 -> r0.4"},
    {"struct S { }; int f(int a, int b, int c, int d, int e, int g, int h, S s, int i)",
     "r7.4 r6.4 r2.4 r1.4 r8.4 r9.4 stack0.4 ? stack8.4 -> r0.4"},
    {"struct S { }; struct T { S s[40]; }; int f(int a, T t, int b)", "r7.4 ? ? -> r0.4"},
    {"struct S { ~S(); }; int f(S s, int a)", "r7.8 r6.4 -> r0.4"},
    {"struct S { int n; void g(); }; int f(int S::*p, void (S::*q)(), decltype(nullptr) n, int a)",
     "? ? ? r8.4 -> r0.4"},
};

static void add_value(char *text, const struct signature_value *value)
{
    char *at = text + strlen(text);
    if (!value->value.type || value->place_count == 0)
        at += sprintf(at, "?");
    for (size_t i = 0; value->value.type && i < value->place_count; i++) {
        static const char *const kinds[] = {
            [PLACE_REGISTER] = "r", [PLACE_VECTOR] = "xmm", [PLACE_STACK] = "stack"};
        const struct value_place *place = &value->places[i];
        at += sprintf(at, "%s%s%d.%u", i ? "+" : "", kinds[place->kind],
                      place->kind == PLACE_STACK ? (int)place->offset : place->number, place->size);
    }
    sprintf(at, " ");
}

static void check(const char *folder, const char *compiler, const char *suffix,
                  const struct expected *expected)
{
    char text[512] = "";
    char *path = memory_format("%s/program.%s", folder, suffix);
    char *object = memory_format("%s/library", folder);
    struct arena memory = {0};
    struct signature signature;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    bool is_cpp = strcmp(suffix, "cpp") == 0;
    const char *function = strrchr(expected->source, ';');
    function = function ? function + 1 : expected->source;
    fprintf(file, "%.*s %s %s { __builtin_trap(); }\n", (int)(function - expected->source),
            expected->source, is_cpp ? "extern \"C\"" : "", function);
    fclose(file);
    run_command("cd %s && %s -w -Wno-psabi -O0 -g -fPIC -shared -nostdlib program.%s -o library",
                folder, compiler, suffix);
    struct signatures *signatures = signatures_open(object);
    assert_non_null(signatures);
    assert_true(signatures_find(signatures, symbol_value(object, "f"), "f", &memory, &signature));
    for (size_t i = 0; i < signature.argument_count; i++)
        add_value(text, &signature.arguments[i]);
    strcat(text, "-> ");
    if (!signature.has_result)
        strcat(text, "? ");
    else if (signature.result.value.in_memory)
        strcat(text, "memory ");
    else
        add_value(text, &signature.result);
    text[strlen(text) - 1] = 0;
    if (strcmp(text, expected->places) != 0)
        fail_msg("%s: %s: %s, not %s", compiler, expected->source, text, expected->places);
    signatures_close(signatures);
    arena_free(&memory);
    free(object);
    free(path);
}

static void c_by_both_compilers(void **state)
{
    for (size_t i = 0; i < sizeof in_c / sizeof *in_c; i++) {
        check(*state, "gcc", "c", &in_c[i]);
        check(*state, "clang", "c", &in_c[i]);
    }
}

static void cpp_by_both_compilers(void **state)
{
    for (size_t i = 0; i < sizeof in_cpp / sizeof *in_cpp; i++) {
        check(*state, "g++", "cpp", &in_cpp[i]);
        check(*state, "clang++", "cpp", &in_cpp[i]);
    }
}

/* Which of the two says what it is by another name than gcc's other types have. */
static void names_that_say_too_little(void **state)
{
    static const struct expected large = {"long double _Complex f(long double _Complex z, int n)",
                                          "stack0.32 r7.4 -> ?"};
    static const struct expected by_clang = {
        "long double _Complex f(long double _Complex z, int n)", "? ? -> ?"};
    static const struct expected decimal = {"_Decimal64 f(_Decimal64 x, _Decimal128 y, double z)",
                                            "xmm0.8 xmm1.16 xmm2.8 -> xmm0.8"};
    static const struct expected declared = {
        "struct __attribute__((packed)) S { short a; int b : 20, c : 12; int d : 31; }; struct S "
        "f(struct S s, int n)",
        "r7.8+r6.2 r2.4 -> r0.8+r2.2"};
    check(*state, "gcc", "c", &large);
    check(*state, "clang", "c", &by_clang);
    check(*state, "gcc", "c", &decimal);
    check(*state, "gcc -gdwarf-3", "c", &declared);
    check(*state, "gcc -gdwarf-5", "c", &declared);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(c_by_both_compilers),
        TEST(cpp_by_both_compilers),
        TEST(names_that_say_too_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
