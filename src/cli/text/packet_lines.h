/* The packets of a recording, one line each: `dump -packets`.
 *
 *     tid 1234 00000015 MODE.Exec IF:0 64
 *     cpu 3 00000061 TIP 0xd794
 *
 * Whose ring it is, the offset in it in hexadecimal digits, and the packet in the words of packet/
 * packet_text.h. Rings come in the order of their first bytes in the file, each whole. Packets that
 * lie across two records of the file are read as one; packets were lost where offsets jump.
 */
#ifndef MAGIC_TRACE_CLI_TEXT_PACKET_LINES_H
#define MAGIC_TRACE_CLI_TEXT_PACKET_LINES_H

#include "recording/perf_data/perf_data_reader.h"

#include <stdio.h>

/* Errors of writing stay with `stream`. */
void packet_lines_print(const struct perf_data *data, FILE *stream);

#endif
