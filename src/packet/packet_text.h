/* A packet as text: `TNT TTNT (4)`, `TIP 0x401000`.
 *
 * Called by `dump -packets`. The text is that of `perf script -D` (Linux 6.1,
 * tools/perf/util/intel-pt-decoder/intel-pt-pkt-decoder.c, intel_pt_pkt_desc), so that the two can
 * be compared: addresses are printed as they are in the packet, compressed, and CR3 and the VMCS
 * pointer without the zero bits below them. perf knows no TRIG.
 */
#ifndef MAGIC_TRACE_PACKET_PACKET_TEXT_H
#define MAGIC_TRACE_PACKET_PACKET_TEXT_H

#include "packet/packet_decoder.h"

enum { PT_PACKET_TEXT_SIZE = 96 };

/* What perf prints for bytes that are no packet. */
#define PT_NO_PACKET_TEXT "Bad packet!"

/* Returns `text`. */
const char *pt_packet_text(char text[PT_PACKET_TEXT_SIZE], const struct pt_packet *packet);

#endif
