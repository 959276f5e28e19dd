/* How the encoder treats the instruction that ends a basic block.
 *
 * Called by those that describe blocks to the encoder: the qemu engine's plugin and the ptrace
 * engine.
 */
#ifndef MAGIC_TRACE_ENGINE_BLOCK_KIND_H
#define MAGIC_TRACE_ENGINE_BLOCK_KIND_H

#include "packet/encoder.h"
#include "x86/instruction.h"

enum pt_code_block_kind block_kind(enum x86_flow flow, bool compress_returns);

#endif
