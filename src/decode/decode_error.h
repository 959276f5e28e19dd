/* Why packets could not be decoded: what flow_event.error of a FLOW_GAP_ERROR holds. */
#ifndef MAGIC_TRACE_DECODE_DECODE_ERROR_H
#define MAGIC_TRACE_DECODE_DECODE_ERROR_H

enum decode_error {
    DECODE_OK,
    DECODE_NO_IMAGE,           /* the code is in no known file */
    DECODE_BAD_CODE,           /* bytes that are not an instruction */
    DECODE_BAD_PACKET,         /* bytes that are not a packet */
    DECODE_MISPLACED_PACKET,   /* a packet that is not allowed there */
    DECODE_TIP_AT_CONDITIONAL, /* the packets have an address, the code a conditional jump */
    DECODE_BIT_AT_INDIRECT,    /* the packets have a TNT bit, the code an indirect branch */
    DECODE_NOT_TAKEN_RETURN,   /* a return by a TNT bit 0 */
    DECODE_EMPTY_RETURN_STACK, /* a return by a TNT bit without a call before it */
    DECODE_UNREACHED,          /* the code does not reach the address in the packet */
    DECODE_ENDLESS,            /* code that runs for ever without a packet */
    DECODE_NO_ADDRESS,         /* an address is missing or its compression does not fit */
    DECODE_ERRORS,
};

/* The error as text for the user; never NULL. */
const char *decode_error_text(enum decode_error error);

#endif
