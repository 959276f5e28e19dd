#include "symbol/demangle/demangle_rust_bound.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { DEEPEST = 1000 };

struct reader {
    const char *next;
    uint64_t lifetimes;
    unsigned depth;
    bool failed;
};

static bool take(struct reader *reader, char tag)
{
    if (reader->failed || *reader->next != tag)
        return false;
    reader->next++;
    return true;
}

static void fail(struct reader *reader)
{
    reader->failed = true;
}

static int digit_of(char letter)
{
    if (isdigit((unsigned char)letter))
        return letter - '0';
    if (islower((unsigned char)letter))
        return letter - 'a' + 10;
    return isupper((unsigned char)letter) ? letter - 'A' + 36 : -1;
}

/* "_" is 0, "0_" is 1. Numbers that are too large stay so. */
static uint64_t read_base_62(struct reader *reader)
{
    uint64_t number = 0;
    if (take(reader, '_'))
        return 0;
    for (int digit; (digit = digit_of(*reader->next)) >= 0; reader->next++)
        number = number < UINT32_MAX ? number * 62 + (uint64_t)digit : number;
    if (!take(reader, '_'))
        fail(reader);
    return number + 1;
}

static void read_binder(struct reader *reader)
{
    if (take(reader, 'G'))
        reader->lifetimes += read_base_62(reader) + 1;
}

static void read_identifier(struct reader *reader)
{
    if (take(reader, 's'))
        read_base_62(reader);
    take(reader, 'u');
    size_t length = 0;
    if (!isdigit((unsigned char)*reader->next))
        fail(reader);
    if (!take(reader, '0'))
        for (; isdigit((unsigned char)*reader->next) && length < UINT32_MAX; reader->next++)
            length = length * 10 + (size_t)(*reader->next - '0');
    take(reader, '_');
    if (reader->failed || strnlen(reader->next, length) < length)
        fail(reader);
    else
        reader->next += length;
}

static void read_path(struct reader *reader);
static void read_type(struct reader *reader);

static bool enter(struct reader *reader)
{
    if (++reader->depth > DEEPEST) {
        reader->lifetimes = UINT64_MAX / 2;
        fail(reader);
    }
    return !reader->failed;
}

static void read_const(struct reader *reader)
{
    if (take(reader, 'B')) {
        read_base_62(reader);
        return;
    }
    if (take(reader, 'p'))
        return;
    read_type(reader);
    take(reader, 'n');
    while (isxdigit((unsigned char)*reader->next))
        reader->next++;
    if (!take(reader, '_'))
        fail(reader);
}

static void read_argument(struct reader *reader)
{
    if (take(reader, 'L'))
        read_base_62(reader);
    else if (take(reader, 'K'))
        read_const(reader);
    else
        read_type(reader);
}

static void read_until_end(struct reader *reader, void (*read)(struct reader *))
{
    while (!reader->failed && !take(reader, 'E'))
        read(reader);
}

static void read_function(struct reader *reader)
{
    read_binder(reader);
    take(reader, 'U');
    if (take(reader, 'K') && !take(reader, 'C'))
        read_identifier(reader);
    read_until_end(reader, read_type);
    read_type(reader);
}

static void read_dyn_trait(struct reader *reader)
{
    read_path(reader);
    while (take(reader, 'p')) {
        read_identifier(reader);
        read_type(reader);
    }
}

static void read_dyn(struct reader *reader)
{
    read_binder(reader);
    read_until_end(reader, read_dyn_trait);
    if (take(reader, 'L'))
        read_base_62(reader);
}

static void read_reference(struct reader *reader)
{
    if (take(reader, 'L'))
        read_base_62(reader);
    read_type(reader);
}

static void read_type(struct reader *reader)
{
    if (!enter(reader))
        return;
    if (islower((unsigned char)*reader->next)) {
        reader->next++;
    } else if (take(reader, 'A')) {
        read_type(reader);
        read_const(reader);
    } else if (take(reader, 'T')) {
        read_until_end(reader, read_type);
    } else if (take(reader, 'R') || take(reader, 'Q')) {
        read_reference(reader);
    } else if (take(reader, 'S') || take(reader, 'P') || take(reader, 'O')) {
        read_type(reader);
    } else if (take(reader, 'F')) {
        read_function(reader);
    } else if (take(reader, 'D')) {
        read_dyn(reader);
    } else {
        read_path(reader);
    }
    reader->depth--;
}

/* Of an impl: where it stands. */
static void read_impl_path(struct reader *reader)
{
    if (take(reader, 's'))
        read_base_62(reader);
    read_path(reader);
}

static void read_path(struct reader *reader)
{
    if (!enter(reader))
        return;
    if (take(reader, 'C')) {
        read_identifier(reader);
    } else if (take(reader, 'M')) {
        read_impl_path(reader);
        read_type(reader);
    } else if (take(reader, 'X')) {
        read_impl_path(reader);
        read_type(reader);
        read_path(reader);
    } else if (take(reader, 'Y')) {
        read_type(reader);
        read_path(reader);
    } else if (take(reader, 'N') && *reader->next) {
        reader->next++; /* the namespace */
        read_path(reader);
        read_identifier(reader);
    } else if (take(reader, 'I')) {
        read_path(reader);
        read_until_end(reader, read_argument);
    } else if (take(reader, 'B')) {
        read_base_62(reader);
    } else {
        fail(reader);
    }
    reader->depth--;
}

uint64_t rust_symbol_lifetimes(const char *symbol)
{
    if (strncmp(symbol, "_R", 2) != 0)
        return 0;
    struct reader reader = {.next = symbol + 2};
    while (isdigit((unsigned char)*reader.next)) /* the version of the scheme */
        reader.next++;
    read_path(&reader);
    if (!reader.failed && *reader.next)
        read_path(&reader); /* the crate that made the instance */
    return reader.lifetimes;
}
