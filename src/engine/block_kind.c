#include "engine/block_kind.h"

enum pt_code_block_kind block_kind(enum x86_flow flow, bool compress_returns)
{
    static const enum pt_code_block_kind kinds[] = {
        [X86_SEQUENTIAL] = PT_BLOCK_SEQUENTIAL,
        [X86_CONDITIONAL] = PT_BLOCK_CONDITIONAL,
        [X86_JUMP] = PT_BLOCK_JUMP,
        [X86_CALL] = PT_BLOCK_CALL,
        [X86_INDIRECT_JUMP] = PT_BLOCK_INDIRECT_JUMP,
        [X86_INDIRECT_CALL] = PT_BLOCK_INDIRECT_CALL,
        [X86_RETURN] = PT_BLOCK_RETURN,
        [X86_FAR_CALL] = PT_BLOCK_FAR,
        [X86_FAR_RETURN] = PT_BLOCK_FAR,
        [X86_FAR_JUMP] = PT_BLOCK_FAR,
        [X86_REPEAT] = PT_BLOCK_REPEAT,
    };
    return flow == X86_RETURN && !compress_returns ? PT_BLOCK_REPORTED_RETURN : kinds[flow];
}
