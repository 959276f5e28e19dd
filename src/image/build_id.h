/* The id that the linker gave to an object (.note.gnu.build-id): objects with the same id have the
 * same code.
 *
 * Recordings contain those of the files that ran; image_file.c reads those of the files on this
 * machine.
 */
#ifndef MAGIC_TRACE_IMAGE_BUILD_ID_H
#define MAGIC_TRACE_IMAGE_BUILD_ID_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BUILD_ID_SIZE = 20, BUILD_ID_TEXT_SIZE = 2 * BUILD_ID_SIZE + 1 };

struct build_id {
    uint8_t bytes[BUILD_ID_SIZE];
    uint8_t size; /* 0: not known */
};

struct build_id build_id_of(const uint8_t *bytes, size_t size);

/* The object's build id; size 0 when it has none. `size` is the file's. */
struct build_id build_id_of_object(Elf *elf, size_t size);

/* Whether both are known and equal. perf before Linux 5.12 padded shorter ones with zeros. */
bool build_id_equal(const struct build_id *left, const struct build_id *right);

/* In hexadecimal digits, of which `text` has BUILD_ID_TEXT_SIZE. */
void build_id_format(const struct build_id *id, char *text);

#endif
