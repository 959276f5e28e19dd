/* A function's name for prose. tests/web/names.test.js has the same list, for the page must follow
 * the same rule. */
#include "base/short_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void template_arguments_and_parameters_are_left_out(void **state)
{
    (void)state;
    static const char *const NAMES[][2] = {
        {"main", "main"},
        {"std::vector<int, std::allocator<int> >::push_back(int&&)", "std::vector<>::push_back"},
        {"main::{lambda(bool)#5}::operator()(bool) const", "main::{lambda(bool)#5}::operator()"},
        {"std::ostream& std::operator<< <char>(std::ostream&, char)", "std::operator<< <>"},
        {"bool gnu::operator!=<int*, std::vector<int> >(int* const&, int* const&)",
         "gnu::operator!=<>"},
        {"bool std::operator< <char>(char, char)", "std::operator< <>"},
        {"auto main::{lambda(auto:1 const&)#1}::operator()<int>(int const&) const",
         "main::{lambda(auto:1 const&)#1}::operator()<>"},
        {"Key::operator std::vector<int>() const", "Key::operator std::vector<>"},
        {"void (anonymous namespace)::f<int>(int)", "(anonymous namespace)::f<>"},
        {"Ptr::operator->() const", "Ptr::operator->"},
        {"bool operator<(Key const&, Key const&)", "bool operator<"},
        {"my_operator<int>(int)", "my_operator<>"},
        {"void sort<std::pair<int, long>*>(std::pair<int, long>*, int)", "sort<>"},
        {"<T as core::fmt::Debug>::fmt", "<T as core::fmt::Debug>::fmt"},
        {"main.(*Server).handle", "main.(*Server).handle"},
        {"f<(a->b)>::g(int) [clone .isra.0]", "f<>::g"},
        {"broken<int(", "broken<int("},
        {"größe<int>(int)", "größe<>"},
        {"[syscall]", "[syscall]"},
        {"operator new(unsigned long)", "operator new"},
        {"(anonymous namespace)::f(int)", "(anonymous namespace)::f"},
    };
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        char *shortened = short_name(NAMES[i][0]);
        assert_string_equal(shortened, NAMES[i][1]);
        free(shortened);
    }
}

static void users_leave_out_parts_of_names(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        bool means;
    } CASES[] = {
        {"int n::twice<int>(int)", "n::twice", true},
        {"int n::twice<int>(int)", "n::twice<>", true},
        {"int n::twice<int>(int)", "n::twice<int>", true},
        {"int n::twice<int>(int)", "n::twice<int>(int)", true},
        {"int n::twice<int>(int)", "int n::twice<int>", true},
        {"int n::twice<int>(int)", "int n::twice<int>(int)", true},
        {"int n::twice<int>(int)", "n::twice<double>", false},
        {"int n::twice<int>(int)", "twice", false},
        {"int n::twice<int>(int)", "n", false},
        {"int n::twice<int>(int)", "int", false},
        {"int n::twice<int>(int)", "", false},
        {"int twice<int>(int) [clone .isra.0]", "twice", true},
        {"int twice<int>(int) [clone .isra.0]", "twice<int>(int)", true},
        {"char const* f<char const*>(char const*)", "f<char const*>", true},
        {"Box<int>::operator+(int) const", "Box::operator+", true},
        {"Box<int>::operator+(int) const", "Box<int>::operator+", true},
        {"bool std::operator< <char>(char, char)", "std::operator<", true},
        {"bool std::operator< <char>(char, char)", "std::operator", false},
        {"Box<int>::operator<=>(int)", "Box::operator<=>", true},
        {"void (anonymous namespace)::f<int>(int)", "(anonymous namespace)::f", true},
        {"f[abi:cxx11](int)", "f", true},
        {"req(int)", "req", true},
        {"req(int)", "re", false},
        {"main", "main", true},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++)
        if (name_means(CASES[i].name, CASES[i].text) != CASES[i].means)
            fail_msg("%s by %s", CASES[i].name, CASES[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(template_arguments_and_parameters_are_left_out),
        cmocka_unit_test(users_leave_out_parts_of_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
