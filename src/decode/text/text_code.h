/* The code of one process, as far as it is known from perf script's text.
 *
 * Text has no mappings and no instructions, but names a symbol with every address, and the distance
 * from its beginning. So the begin of the function is stored for each address that was seen. The
 * return addresses of calls are learned in a first pass over the text: a return goes to the
 * instruction after its call, so the closest address after a call that anything ever returned to is
 * its return address. A call that nothing returned to does not need one; it gets that of the most
 * frequent call, 5 bytes long.
 *
 * Code that perf had no name for can have one in a perf-PID.map (perf_map.h), if the user names its
 * directory.
 *
 * One per process; made and filled by text_flow.c, read by stack/process_code.c.
 */
#ifndef MAGIC_TRACE_DECODE_TEXT_TEXT_CODE_H
#define MAGIC_TRACE_DECODE_TEXT_TEXT_CODE_H

#include "base/clock.h"
#include "decode/text/text_functions.h"

#include <stdbool.h>

struct text_code;

/* `functions` is borrowed. `perf_map_directory` may be NULL. */
struct text_code *text_code_open(struct text_functions *functions, uint32_t pid,
                                 const char *perf_map_directory);
void text_code_close(struct text_code *code);

/* A place with its function. Its strings point into the text. */
struct text_location {
    function_id function;
    uint64_t address;
    uint64_t start; /* of the function in the process; 0: unknown */
    struct text_slice symbol, object;
};

/* Stores where the function begins, and returns the place with its function. */
struct text_location text_code_locate(struct text_code *code, const struct perf_text_place *place);

/* A call has gone to `to`: a function begins there, even if its symbol has no offset. */
void text_code_note_call(struct text_code *code, const struct text_location *to);

/* Whether `place` is in the function of `location`, as far as that is known without a lookup. */
bool text_code_is_same_function(const struct text_code *code, const struct text_location *location,
                                const struct perf_text_place *place);

/* Control has reached the beginning of the function that holds `inside`. */
void text_code_note_start(struct text_code *code, const struct text_location *inside);

/* A return has gone to `address`. */
void text_code_note_return(struct text_code *code, uint64_t address);
/* The return address of the call at `address`. */
uint64_t text_code_return_address(const struct text_code *code, uint64_t address);

/* The process executed another program at `time`; times never decrease. */
void text_code_note_program(struct text_code *code, struct ticks time);

/* For the stacks (code_view of thread_stack.h): where the function that holds `address` begins, 0:
 * unknown; how often the program changed up to `time`. */
uint64_t text_code_function_start(const struct text_code *code, uint64_t address);
uint32_t text_code_program_changes(const struct text_code *code, struct ticks time);

#endif
