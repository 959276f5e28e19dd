#include "decode/pt/blocks/branch.h"

#include "x86/decode.h"

enum branch_kind branch_kind_of(enum x86_flow flow)
{
    static const enum branch_kind kinds[] = {
        [X86_SEQUENTIAL] = BRANCH_NONE,
        [X86_CONDITIONAL] = BRANCH_CONDITIONAL,
        [X86_JUMP] = BRANCH_JUMP,
        [X86_CALL] = BRANCH_CALL,
        [X86_INDIRECT_JUMP] = BRANCH_JUMP,
        [X86_INDIRECT_CALL] = BRANCH_CALL,
        [X86_RETURN] = BRANCH_RETURN,
        [X86_FAR_CALL] = BRANCH_FAR_CALL,
        [X86_FAR_RETURN] = BRANCH_FAR_RETURN,
        [X86_FAR_JUMP] = BRANCH_FAR_JUMP,
        [X86_REPEAT] = BRANCH_NONE,
    };
    return kinds[flow];
}

struct branch branch_classify(const uint8_t *bytes, size_t size, enum x86_mode mode)
{
    struct x86_instruction instruction;
    if (!x86_decode(&instruction, bytes, size, 0, mode))
        return (struct branch){.kind = BRANCH_NONE};
    return (struct branch){
        .kind = (uint8_t)branch_kind_of(instruction.flow),
        .length = (uint8_t)instruction.length,
        .direct = instruction.flow == X86_JUMP || instruction.flow == X86_CALL,
        .reads_own_address =
            instruction.flow == X86_CALL && instruction.target == instruction.length,
    };
}
