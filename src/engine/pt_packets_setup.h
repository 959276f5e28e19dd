/* The parameters in perf.data for decoding the packets of our own encoder.
 *
 * Called by the engines that use the encoder (packet/encoder.h).
 */
#ifndef MAGIC_TRACE_ENGINE_PT_PACKETS_SETUP_H
#define MAGIC_TRACE_ENGINE_PT_PACKETS_SETUP_H

#include "engine/engine.h"
#include "recording/perf_data/perf_data.h"

/* `bus_ratio`: what the encoder's CBR packets say. */
struct pt_setup pt_packets_setup(const struct clock_conversion *clock, uint32_t bus_ratio,
                                 const struct record_packets *packets);

/* As session.json names it. */
const char *record_clock_name(enum record_clock clock);

#endif
