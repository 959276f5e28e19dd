/* Appends text to a block writer: for text formats of many gigabytes.
 *
 * Called by the exporters. printf(3) would take longer than everything else they do.
 */
#ifndef MAGIC_TRACE_OUTPUT_TEXT_WRITER_H
#define MAGIC_TRACE_OUTPUT_TEXT_WRITER_H

#include "output/block_writer.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Of any size. */
void text_put_bytes(struct block_writer *out, const void *bytes, size_t size);

static inline void text_put(struct block_writer *out, const char *text)
{
    text_put_bytes(out, text, strlen(text));
}

/* Puts the decimal digits of `number`, TEXT_DIGITS_MAX at most, before `end`; gives where they
 * begin. */
enum { TEXT_DIGITS_MAX = 20 };
char *text_digits_before(char *end, uint64_t number);

/* Decimal. */
void text_put_number(struct block_writer *out, uint64_t number);
void text_put_signed(struct block_writer *out, int64_t number);

/* "0x" and lower-case digits, without leading zeros. */
void text_put_hexadecimal(struct block_writer *out, uint64_t number);

/* Nanoseconds as microseconds with all three decimals: exact. */
void text_put_microseconds(struct block_writer *out, uint64_t nanoseconds);

/* The shortest decimal that reads back as the same double; "null" for what is no number, as JSON
 * has none. */
void text_put_double(struct block_writer *out, double number);

#endif
