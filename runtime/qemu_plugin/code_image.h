/* A page of code as it stood in memory, as a small ELF file that perf, debuggers and we can read
 * like any other.
 *
 * The code lies at file offset CODE_IMAGE_OFFSET, which is also what a mapping of it says; the
 * CODE_IMAGE_TAIL bytes behind the page are there because decoders read an instruction that crosses
 * the page's end from one file.
 */
#ifndef MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_CODE_IMAGE_H
#define MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_CODE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CODE_IMAGE_PAGE = 4096,
    CODE_IMAGE_TAIL = 16,
    CODE_IMAGE_OFFSET = 4096,
};

/* Writes the page that runs at `address`; `code` points to CODE_IMAGE_PAGE + CODE_IMAGE_TAIL bytes.
 * False when there is no space or `path` exists. */
bool code_image_write(const char *path, uint64_t address, const uint8_t *code);

#endif
