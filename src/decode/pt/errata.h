/* Which mistakes a processor makes in its packets, and that decoders have to allow for.
 *
 * Source: Intel's specification updates, by the names of libipt 2.1.2 (struct pt_errata in
 * intel-pt.h), which has the same ones for other models: SKL021 is BDM70. Not here: SKL014, whose
 * remedy helps anybody (traced_code.h); SKL168, which is about time alone.
 */
#ifndef MAGIC_TRACE_DECODE_PT_ERRATA_H
#define MAGIC_TRACE_DECODE_PT_ERRATA_H

#include "recording/perf_data/perf_data.h"

#include <stdbool.h>

struct errata {
    bool bdm70;  /* a PSB+ just before TIP.PGE may wrongly have FUP and MODE.Exec */
    bool bdm64;  /* the branch before a transaction's abort may have a wrong target */
    bool skd007; /* OVF may stand in place of the last bytes of a CYC packet */
    bool skd010; /* the FUP or TIP.PGE behind OVF may be missing */
    bool skd022; /* VM entry that ends tracing may have a FUP before its TIP.PGD */
    bool apl11;  /* OVF may have a TIP.PGD behind it that ended tracing before */
    bool skz84;  /* TMA may have reserved bits set, and a byte of no meaning behind it */
    bool apl12;  /* OVF may have a FUP behind it although tracing is off */
};

/* None when the processor is not known. */
struct errata errata_of(const struct cpu_identity *cpu);

#endif
