/* The errata of processors that decoders have to allow for.
 *
 * Source: Intel's specification updates, by the names of libipt 2.1.2 (struct pt_errata in
 * intel-pt.h), which has the same ones for other models: SKL021 is BDM70. Not here: SKL014, whose
 * workaround is right for all processors (traced_code.h); SKL168, which concerns only time.
 */
#ifndef MAGIC_TRACE_DECODE_PT_ERRATA_H
#define MAGIC_TRACE_DECODE_PT_ERRATA_H

#include "recording/perf_data/perf_data.h"

#include <stdbool.h>

struct errata {
    bool bdm70;  /* a PSB+ just before TIP.PGE may have a wrong FUP and MODE.Exec */
    bool bdm64;  /* the branch before a transaction's abort may have a wrong target */
    bool skd007; /* OVF may stand in place of the last bytes of a CYC packet */
    bool skd010; /* the FUP or TIP.PGE after OVF may be missing */
    bool skd022; /* a VM entry that ends tracing may have a FUP before its TIP.PGD */
    bool apl11;  /* OVF may be followed by the TIP.PGD that ended tracing before it */
    bool skz84;  /* TMA may have reserved bits set, and a meaningless byte after it */
    bool apl12;  /* OVF may be followed by a FUP although tracing is off */
};

/* None if the processor is unknown. */
struct errata errata_of(const struct cpu_identity *cpu);

#endif
