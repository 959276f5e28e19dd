#include "decode/decode_error.h"

const char *decode_error_text(enum decode_error error)
{
    static const char *const texts[DECODE_ERRORS] = {
        [DECODE_OK] = "no error",
        [DECODE_NO_IMAGE] = "the code is in no known file",
        [DECODE_BAD_CODE] = "the code is no instruction",
        [DECODE_BAD_PACKET] = "bytes that are no packet",
        [DECODE_MISPLACED_PACKET] = "a packet that cannot stand there",
        [DECODE_TIP_AT_CONDITIONAL] = "a target address for a conditional jump",
        [DECODE_BIT_AT_INDIRECT] = "no target address for an indirect branch",
        [DECODE_NOT_TAKEN_RETURN] = "a return that was not taken",
        [DECODE_EMPTY_RETURN_STACK] = "a compressed return without its call",
        [DECODE_UNREACHED] = "code that does not lead to the address of a packet",
        [DECODE_ENDLESS] = "code that runs on for ever without a packet",
        [DECODE_NO_ADDRESS] = "a packet without its address",
    };
    return error < DECODE_ERRORS ? texts[error] : "unknown error";
}
