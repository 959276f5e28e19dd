/* Makes Intel PT packets for tests, with libipt's packet encoder: one function per packet or usual
 * group of them. */
#ifndef MAGIC_TRACE_TESTS_FLOW_PACKETS_H
#define MAGIC_TRACE_TESTS_FLOW_PACKETS_H

#include <intel-pt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PACKETS_CAPACITY = 1 << 20 };

struct packets {
    uint8_t *bytes;
    struct pt_encoder *encoder;
};

void packets_begin(struct packets *packets);
void packets_free(struct packets *packets);
size_t packets_size(struct packets *packets);

/* PSB, TSC, CBR, MODE.Exec, FUP when `ip` is not 0, PSBEND. */
void packets_psb(struct packets *packets, uint64_t tsc, uint64_t ip);
void packets_tsc(struct packets *packets, uint64_t tsc);
void packets_cyc(struct packets *packets, uint64_t cycles);
/* `bits` as they happened, for example "TNT": taken, not taken, taken. At most 47. */
void packets_tnt(struct packets *packets, const char *bits);
void packets_tip(struct packets *packets, uint64_t ip);
void packets_fup(struct packets *packets, uint64_t ip);
void packets_enable(struct packets *packets, uint64_t ip);
void packets_disable(struct packets *packets);
/* FUP ip and TIP.PGD: an interrupt before the instruction at `ip`. */
void packets_interrupt(struct packets *packets, uint64_t ip);
/* EXSTOP and FUP ip: the program was at `ip`, whatever led there. */
void packets_stop(struct packets *packets, uint64_t ip);
/* PTWRITE and FUP ip. */
void packets_ptwrite(struct packets *packets, uint64_t value, uint64_t ip);
void packets_mnt(struct packets *packets, uint64_t payload);
/* FUP from and TIP to: an interrupt whose handler is traced. */
void packets_divert(struct packets *packets, uint64_t from, uint64_t to);
/* MODE.TSX: a transaction begins, or ends by a commit. Then FUP ip. */
void packets_transaction(struct packets *packets, bool begins, uint64_t ip);
/* MODE.TSX, FUP from and TIP to: a transaction fails. */
void packets_abort(struct packets *packets, uint64_t from, uint64_t to);
/* MODE.TSX, FUP from and TIP.PGD to, 0: unknown: a transaction fails, and tracing ends. */
void packets_abort_out(struct packets *packets, uint64_t from, uint64_t to);
/* OVF and FUP ip; with an `ip` of 0 OVF alone. */
void packets_overflow(struct packets *packets, uint64_t ip);
void packets_raw(struct packets *packets, const void *bytes, size_t size);

#endif
