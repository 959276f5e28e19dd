/* Names as people write them. */
#include "symbol/demangle/demangle.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check(const char *symbol, const char *expected)
{
    char *name = demangle(symbol);
    assert_string_equal(name, expected);
    free(name);
}

static void plain_names_stay(void **state)
{
    check("main", "main");
    check("", "");
    check("_start", "_start");
    check("_Dark", "_Dark");
    check("_Zebra", "_Zebra");
    check("_Rust", "_Rust");
    check("__GI___tunables_init", "__tunables_init");
    check("__GI_", "__GI_");
    check("f.constprop.0", "f.constprop.0");
    check("runtime.(*mheap).alloc", "runtime.(*mheap).alloc");
    check("main.main.func1", "main.main.func1");
    check("runtime.gogo.abi0", "runtime.gogo");
}

static void cpp(void **state)
{
    check("_ZN3foo3barEi", "foo::bar(int)");
    check("_ZNSt6vectorIiSaIiEE9push_backEOi",
          "std::vector<int, std::allocator<int> >::push_back(int&&)");
    check("_ZN3fooC1Ev.part.0", "foo::foo() [clone .part.0]");
    check("_ZNSolsEi@plt", "std::ostream::operator<<(int)@plt");
    check("puts@plt", "puts@plt");
}

static void rust(void **state)
{
    check("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad");
    check("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE.llvm.1234567890",
          "core::fmt::Formatter::pad");
    check("_RNvC6_123foo3bar", "123foo::bar");
    check("_RINvNtC3std3mem8align_ofjE", "std::mem::align_of::<usize>");
}

static void d(void **state)
{
    check("_Dmain", "D main");
    check("_D3std5stdio12__ModuleInfoZ", "ModuleInfo for std.stdio");
    check("_D8demangle4testFZv", "demangle.test()");
}

static void ocaml(void **state)
{
    check("camlFoo__bar_123", "Foo.bar");
    check("camlStdlib__List__iter_507", "Stdlib.List.iter");
    check("camlStdlib__List.iter_507", "Stdlib.List.iter");
    check("camlFoo__bar_123_code", "Foo.bar");
    check("camlFoo__$2b$2b_7", "Foo.++");
    check("camlFoo__x$27_7", "Foo.x'");
    check("camlFoo__fun_1234", "Foo.fun_1234");
    check("camlFoo.fun_1234", "Foo.fun_1234");
    check("camlFoo__my_fun_1234", "Foo.my_fun");
    check("camlFoo__entry", "Foo.entry");
    check("caml_alloc", "caml_alloc");
    check("camlFoo__a$", "Foo.a$");
    check("camlFoo__a$2", "Foo.a$2");
    check("camlFoo__a$00b", "Foo.a$00b");
    check("camlFoo__", "Foo__");
    check("caml", "caml");
}

static void very_long_names(void **state)
{
    enum { DEPTH = 20000 };
    char *symbol = memory_allocate(4 * DEPTH + 16);
    char *end = symbol + strlen(strcpy(symbol, "_ZN"));
    for (int i = 0; i < DEPTH; i++)
        end = stpcpy(end, "2ab");
    strcpy(end, "Ev");
    char *name = demangle(symbol);
    assert_true(strlen(name) > DEPTH);
    free(name);
    memset(symbol, 'x', 4 * DEPTH);
    symbol[4 * DEPTH] = 0;
    check(symbol, symbol);
    free(symbol);
}

/* Each parameter is A<the one before, the one before>: twice as long as that, 26 bytes of symbol for
 * each power of two. */
static void names_that_grow(void **state)
{
    static const char cpp[] =
        "_Z1f1AIiiE"
        "S_IS0_S0_ES_IS1_S1_ES_IS2_S2_ES_IS3_S3_ES_IS4_S4_ES_IS5_S5_ES_IS6_S6_E"
        "S_IS7_S7_ES_IS8_S8_ES_IS9_S9_ES_ISA_SA_ES_ISB_SB_ES_ISC_SC_ES_ISD_SD_E"
        "S_ISE_SE_ES_ISF_SF_ES_ISG_SG_ES_ISH_SH_ES_ISI_SI_ES_ISJ_SJ_ES_ISK_SK_E"
        "S_ISL_SL_ES_ISM_SM_ES_ISN_SN_ES_ISO_SO_ES_ISP_SP_ES_ISQ_SQ_ES_ISR_SR_E";
    static const char d[] =
        "_D1a1fFHiiHQeQgHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQi"
        "HQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiHQgQiZv";
    check(cpp, cpp);
    check(d, d);
    check("_Z1f1AIiiES_IS0_S0_E", "f(A<int, int>, A<A<int, int>, A<int, int> >)");
    check("_D1a1fFHiiHQeQgZv", "a.f(int[int], int[int][int[int]])");
}

/* A binder's number of lifetimes is counted one by one, in the path of an impl without printing. */
static void lifetimes_of_rust(void **state)
{
    static const char *const endless[] = {
        "_RNvMIC1aFGzzzzzzzz_EuEu4leaf",         "_RNvXIC1aFGzzzzzzzz_EuEuC1b4leaf",
        "_RNvMINtC1a4G12_FGzzzzzzzz_EuEu4leaf",  "_RNvMIC1aDGzzzzzzzz_EL_Eu4leaf",
        "_RNvMs9_IC1aTRL_FGzzzzzzzz_EuEEu4leaf", "_RNvC1a4leafMIC1aFGzzzzzzzz_EuEu",
        "_RINvC1a4leafYFGzzzzzzzz_EuNtC1a1tE",
    };
    for (size_t i = 0; i < sizeof endless / sizeof *endless; i++)
        check(endless[i], endless[i]);
    check("_RNvMIC1aFG_RL0_hEuEu4leaf", "<()>::leaf");
    check("_RINvC1a4leafFG0_RL0_hRL1_hEuE", "a::leaf::<for<'a, 'b> fn(&'b u8, &'a u8)>");
    check("_RNvC1a12Gzzzzzzzzzz_", "a::Gzzzzzzzzzz_"); /* that is a name */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lifetimes_of_rust),
        cmocka_unit_test(plain_names_stay),
        cmocka_unit_test(cpp),
        cmocka_unit_test(rust),
        cmocka_unit_test(d),
        cmocka_unit_test(ocaml),
        cmocka_unit_test(very_long_names),
        cmocka_unit_test(names_that_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
