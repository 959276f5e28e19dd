/* A range of code to which a source gives a name or at least bounds: the readers of symbol tables,
 * PLTs, frame descriptions and perf-PID.map files pass them to symbol_table.c.
 */
#ifndef MAGIC_TRACE_SYMBOL_CODE_SYMBOL_H
#define MAGIC_TRACE_SYMBOL_CODE_SYMBOL_H

#include <stdint.h>

/* How much a source is worth where two of them speak of the same address; higher is better. */
enum code_symbol_kind {
    CODE_GAP,      /* executable, with no other source; bounded by its neighbours */
    CODE_FRAME,    /* an FDE of .eh_frame: bounds without a name */
    CODE_LABEL,    /* STT_NOTYPE in an executable section: hand-written assembly */
    CODE_FUNCTION, /* STT_FUNC, STT_GNU_IFUNC, a PLT slot, a line of perf-PID.map */
};

/* Weaker first, as aliases are chosen. */
enum code_symbol_binding {
    CODE_LOCAL,
    CODE_WEAK,
    CODE_GLOBAL,
};

struct code_symbol {
    const char *name; /* NULL for frames and gaps */
    uint64_t start;
    uint64_t end;         /* exclusive; equal to start when the source does not know */
    uint64_t limit;       /* where an unknown end is at the latest: the end of the section */
    uint32_t source_file; /* STT_FILE symbols seen before it: local symbols of one file agree; 0
                             unknown */
    uint8_t kind;         /* enum code_symbol_kind */
    uint8_t binding;      /* enum code_symbol_binding */
};

#endif
