#include "symbol/symbol_choice.h"

#include <stdbool.h>
#include <string.h>

int symbol_choice_compare(const struct code_symbol *a, const struct code_symbol *b)
{
    if (a->kind != b->kind)
        return (int)b->kind - (int)a->kind;
    bool a_exported = a->binding != CODE_LOCAL, b_exported = b->binding != CODE_LOCAL;
    if (a_exported != b_exported)
        return a_exported ? -1 : 1;
    bool a_internal = strncmp(a->name, "__GI_", 5) == 0;
    bool b_internal = strncmp(b->name, "__GI_", 5) == 0;
    if (a_internal != b_internal)
        return b_internal ? -1 : 1;
    size_t a_underscores = strspn(a->name, "_"), b_underscores = strspn(b->name, "_");
    if (a_underscores != b_underscores)
        return a_underscores < b_underscores ? -1 : 1;
    if (a->binding != b->binding)
        return (int)b->binding - (int)a->binding;
    size_t a_length = strlen(a->name), b_length = strlen(b->name);
    if (a_length != b_length)
        return a_length < b_length ? -1 : 1;
    return strcmp(a->name, b->name);
}
