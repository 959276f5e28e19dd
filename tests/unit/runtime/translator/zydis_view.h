/* What Zydis says of an instruction, in the terms of runtime/translator/code/decode.h: what tests
 * compare the translator's decoder with. Not filled in: opcode, map, modrm, reg, rex.
 */
#ifndef MAGIC_TRACE_TESTS_RUNTIME_TRANSLATOR_ZYDIS_VIEW_H
#define MAGIC_TRACE_TESTS_RUNTIME_TRANSLATOR_ZYDIS_VIEW_H

#include "runtime/translator/code/decode.h"

#include <Zydis/Zydis.h>

struct zydis_view {
    struct tr_instruction instruction;
    ZydisMnemonic mnemonic;
    ZydisISAExt isa_extension;
};

/* False if Zydis knows of no such instruction, or it is longer than `size`. */
bool zydis_view(struct zydis_view *view, const uint8_t *bytes, size_t size, uint64_t pc);

#endif
