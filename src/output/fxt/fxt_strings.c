#include "output/fxt/fxt_strings.h"

#include "base/memory.h"
#include "output/fxt/fxt_format.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

struct fxt_string_slot {
    const char *text; /* NULL: never used */
    UT_hash_handle hh;
};

enum { RECYCLED_COUNT = FXT_STRING_INDEX_MAX - (FXT_STRING_PERMANENT_END - 1) };

/* Shown at the end of a name that is cut: U+2026, an ellipsis. */
static const char CUT_MARK[] = "\xe2\x80\xa6";

/* How much of `text` can be kept, in bytes: all of it, or what leaves room for the mark and does
 * not end within a UTF-8 sequence. */
static size_t kept_length(const char *text, size_t length)
{
    if (length <= FXT_STRING_LENGTH_MAX)
        return length;
    size_t kept = FXT_STRING_LENGTH_MAX - (sizeof CUT_MARK - 1);
    for (int i = 0; i < 3 && ((uint8_t)text[kept] & 0xc0) == 0x80; i++)
        kept--;
    return kept;
}

static void write_string(struct block_writer *output, uint32_t number, const char *text)
{
    size_t full = strlen(text);
    size_t kept = kept_length(text, full);
    size_t length = kept < full ? kept + sizeof CUT_MARK - 1 : full;
    uint64_t words = 1 + fxt_words(length);
    uint64_t *record = block_writer_reserve(output, words * FXT_WORD);
    record[words - 1] = 0;
    record[0] =
        fxt_header(FXT_RECORD_STRING, words) | (uint64_t)number << 16 | (uint64_t)length << 32;
    memcpy(record + 1, text, kept);
    memcpy((char *)(record + 1) + kept, CUT_MARK, length - kept);
}

static void write_permanent(struct block_writer *output)
{
    static const char *const TEXTS[] = {
        [FXT_STRING_ADDRESS] = FXT_NAME_ADDRESS,
        [FXT_STRING_SYMBOL] = FXT_NAME_SYMBOL,
        [FXT_STRING_FILE] = FXT_NAME_FILE,
        [FXT_STRING_LINE] = FXT_NAME_LINE,
        [FXT_STRING_START_INFERRED] = FXT_NAME_START_INFERRED,
        [FXT_STRING_END_INFERRED] = FXT_NAME_END_INFERRED,
        [FXT_STRING_ACROSS_GAP] = FXT_NAME_ACROSS_GAP,
        [FXT_STRING_TRUE] = FXT_NAME_TRUE,
        [FXT_STRING_END] = FXT_NAME_END,
        [FXT_STRING_TAIL_CALL] = FXT_NAME_TAIL_CALL,
        [FXT_STRING_UNWOUND] = FXT_NAME_UNWOUND,
        [FXT_STRING_GAP] = FXT_NAME_GAP,
        [FXT_STRING_END_OF_TRACE] = FXT_NAME_END_OF_TRACE,
        [FXT_STRING_EXEC] = FXT_NAME_EXEC,
        [FXT_STRING_FILTER] = FXT_NAME_FILTER,
        [FXT_STRING_SWITCH] = FXT_NAME_SWITCH,
        [FXT_STRING_STACK] = FXT_NAME_STACK,
        [FXT_STRING_TIMESTAMP] = FXT_NAME_TIMESTAMP,
        [FXT_STRING_PID] = FXT_NAME_PID,
        [FXT_STRING_TID] = FXT_NAME_TID,
        [FXT_STRING_IP] = FXT_NAME_IP,
        [FXT_STRING_PASSED] = FXT_NAME_PASSED,
        [FXT_STRING_ARGUMENT] = FXT_NAME_ARGUMENT,
        [FXT_STRING_PROCESS] = FXT_NAME_PROCESS,
        [FXT_STRING_SPECIAL] = FXT_NAME_SPECIAL,
        [FXT_STRING_LIBRARY] = FXT_NAME_LIBRARY,
        [FXT_STRING_KERNEL] = FXT_NAME_KERNEL,
        [FXT_STRING_INLINED] = FXT_NAME_INLINED,
    };
    for (uint32_t i = 1; i < FXT_STRING_PERMANENT_END; i++)
        write_string(output, i, TEXTS[i]);
}

void fxt_strings_init(struct fxt_strings *strings, struct block_writer *output)
{
    *strings = (struct fxt_strings){
        .output = output,
        .slots = memory_allocate_zeroed((RECYCLED_COUNT + 1) * sizeof *strings->slots),
        .generations = memory_allocate_zeroed((RECYCLED_COUNT + 1) * sizeof *strings->generations),
    };
    slot_recycler_init(&strings->recycler, RECYCLED_COUNT);
    write_permanent(output);
}

void fxt_strings_free(struct fxt_strings *strings)
{
    HASH_CLEAR(hh, strings->by_text);
    slot_recycler_free(&strings->recycler);
    free(strings->slots);
    free(strings->generations);
}

static void forget(struct fxt_strings *strings, struct fxt_string_slot *slot)
{
    if (slot->text)
        HASH_DELETE(hh, strings->by_text, slot);
}

uint32_t fxt_strings_look_up(struct fxt_strings *strings, struct fxt_cached_string *cached,
                             const char *text)
{
    size_t length = strlen(text);
    if (length == 0)
        return 0; /* the format's own number for the empty string */
    struct fxt_string_slot *slot;
    HASH_FIND(hh, strings->by_text, text, length, slot);
    uint32_t index;
    if (slot) {
        index = (uint32_t)(slot - strings->slots);
        slot_recycler_touch(&strings->recycler, index);
    } else {
        index = slot_recycler_take(&strings->recycler);
        slot = &strings->slots[index];
        forget(strings, slot);
        slot->text = text;
        HASH_ADD_KEYPTR(hh, strings->by_text, text, length, slot);
        strings->generations[index]++;
        write_string(strings->output, index + FXT_STRING_PERMANENT_END - 1, text);
    }
    *cached = (struct fxt_cached_string){strings->generations[index], (uint16_t)index};
    return index + FXT_STRING_PERMANENT_END - 1;
}
