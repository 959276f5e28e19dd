/* Fuzz target: any bytes as an object that was mapped as code, and as the stack of a thread that ran in it. The
 * innermost frame is always found, and the frames end.
 *
 * The input: the registers, then the stack and the object: the same bytes are both. */
#include "symbol/eh_frame/stack_unwinder.h"

#include "mapped_object.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { MOST_FRAMES = 1 << 16 };

/* With the program counter in the object and the stack pointer where it may be. */
static struct saved_stack stack_of(const uint8_t *registers, const uint8_t *bytes, size_t size)
{
    struct saved_stack saved = {.bytes = bytes, .size = size};
    memcpy(saved.registers, registers, sizeof saved.registers);
    saved.registers[SAVED_RIP] = OBJECT_START + saved.registers[SAVED_RIP] % OBJECT_LENGTH;
    saved.registers[SAVED_RSP] = saved.registers[SAVED_RSP] >> 17 & ~UINT64_C(7);
    return saved;
}

static void unwind(const struct mapped_object *object, const struct saved_stack *saved)
{
    struct address_space_cursor cursor = mapped_object_cursor(object);
    struct stack_unwinder *unwinder = stack_unwinder_open();
    struct array frames = array_of(sizeof(struct unwound_frame));
    stack_unwinder_find(unwinder, &cursor, saved, &frames);
    if (frames.count == 0 || frames.count > MOST_FRAMES ||
        ((const struct unwound_frame *)array_at(&frames, 0))->address !=
            saved->registers[SAVED_RIP])
        abort();
    array_free(&frames);
    stack_unwinder_close(unwinder);
    address_space_cursor_free(&cursor);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    size_t head = SAVED_REGISTER_COUNT * sizeof(uint64_t);
    if (size < head)
        return 0;
    struct mapped_object object;
    mapped_object_make(&object, bytes + head, size - head);
    struct saved_stack saved = stack_of(bytes, bytes + head, size - head);
    unwind(&object, &saved);
    mapped_object_free(&object);
    return 0;
}
