/* What a trace contains besides control flow: values that programs wrote by the PTWRITE
 * instruction, the processor's frequency where it changes, and when it sleeps.
 *
 * They do not affect the control flow, so a separate pass searches the packets for them and reads
 * closely only where there may be some. A recording has values only if it was asked for them; the
 * PTWRITE packets of the qemu engine are about the stack pointer (packet/encoder.h) and do not
 * count.
 *
 * Called by flow.c. Source: Intel SDM volume 3, "Intel Processor Trace": "PTWRITE Packet",
 * "Core:Bus Ratio (CBR) Packet", "Power Entry (PWRE) Packet", "Power Exit (PWRX) Packet",
 * IA32_RTIT_CTL.PTWEn and PwrEvtEn.
 */
#ifndef MAGIC_TRACE_DECODE_TRACE_MARKS_H
#define MAGIC_TRACE_DECODE_TRACE_MARKS_H

#include "base/array.h"
#include "decode/pt/trace_stream.h"
#include "decode/trace_mark.h"
#include "recording/perf_data/perf_data_reader.h"

/* Appends the marks of all threads, from `data` and the streams that it was cut into: each thread's
 * together and in their order, changes of frequency as frequency_changes.h says. */
void trace_marks_find(struct array *marks, const struct perf_data *data,
                      const struct trace_streams *streams);

#endif
