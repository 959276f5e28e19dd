/* A recording made by hand: one process that has object files mapped, and its symbols.
 *
 * Each object is mapped like the kernel does it: one mapping per executable segment, at a load
 * address of its own.
 */
#ifndef MAGIC_TRACE_TESTS_SYMBOL_FIXTURE_H
#define MAGIC_TRACE_TESTS_SYMBOL_FIXTURE_H

#include "../image/image_fixture.h" /* test folders and hand-made records */
#include "image/address_space.h"
#include "symbol/symbols.h"

enum { FIXTURE_PID = 100 };

struct symbol_fixture {
    struct address_spaces spaces;
    struct address_space_cursor cursor;
    struct symbols *symbols;
};

/* `paths` ends with NULL; object number i has load bias 0x10000000000 * (i + 1), executables at
 * fixed addresses excepted. */
void symbol_fixture_open(struct symbol_fixture *fixture, const char *const *paths);

/* The same with any records; `directory` and `perf_map_directory` as in address_spaces_build and
 * symbols_open. */
void symbol_fixture_open_recording(struct symbol_fixture *fixture,
                                   const struct recording *recording, const char *directory,
                                   const char *perf_map_directory);
void symbol_fixture_close(struct symbol_fixture *fixture);

/* What lies at the object's own address `address` of object number `object`; the bounds too are the
 * object's. */
struct function_bounds symbol_fixture_find(struct symbol_fixture *fixture, size_t object,
                                           uint64_t address);

/* Where an exception goes on that passes the call that returns to the object's own address
 * `return_address`; the object's own, too. */
uint64_t symbol_fixture_landing_pad(struct symbol_fixture *fixture, size_t object,
                                    uint64_t return_address);

/* Name of the function there. */
const char *symbol_fixture_name(struct symbol_fixture *fixture, size_t object, uint64_t address);

/* Runs a shell command made like printf does; fails the test when the command fails. */
__attribute__((format(printf, 1, 2))) void run_command(const char *format, ...);

/* First line of a command's output, without the newline; owned by the caller. NULL when there is
 * none. */
__attribute__((format(printf, 1, 2))) char *command_line_output(const char *format, ...);

/* The value of symbol `name` as nm prints it; fails the test when there is none. */
uint64_t symbol_value(const char *path, const char *name);

#endif
