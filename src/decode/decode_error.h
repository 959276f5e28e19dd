/* Why packets could not be decoded: what flow_event.error of a FLOW_GAP_ERROR holds. */
#ifndef MAGIC_TRACE_DECODE_DECODE_ERROR_H
#define MAGIC_TRACE_DECODE_DECODE_ERROR_H

enum decode_error {
    DECODE_OK,
    DECODE_NO_IMAGE,           /* the code is in no known file */
    DECODE_BAD_CODE,           /* bytes that are no instruction */
    DECODE_BAD_PACKET,         /* bytes that are no packet */
    DECODE_MISPLACED_PACKET,   /* a packet that cannot stand there */
    DECODE_TIP_AT_CONDITIONAL, /* packets go on with an address, the code with a conditional jump */
    DECODE_BIT_AT_INDIRECT,    /* packets go on with a TNT bit, the code with an indirect branch */
    DECODE_NOT_TAKEN_RETURN,   /* a return by a TNT bit 0 */
    DECODE_EMPTY_RETURN_STACK, /* a return by a TNT bit without a call before it */
    DECODE_UNREACHED,          /* the code does not come to the address that packets name */
    DECODE_ENDLESS,            /* code that runs for ever without a packet */
    DECODE_NO_ADDRESS,         /* an address is missing or cannot be put together */
    DECODE_ERRORS,
};

/* In words, for people; never NULL. */
const char *decode_error_text(enum decode_error error);

#endif
