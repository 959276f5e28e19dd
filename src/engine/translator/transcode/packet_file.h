/* A file of packets that grows: what the transcoder writes of one thread.
 *
 * DIR/translator/ring.SERIAL has the layout of a ring in full execution (struct packet_ring), so that
 * the collector reads it as it reads the qemu engine's. Packets are gathered in memory and written to the file by the
 * hundred kilobytes, and then a copy of the encoder to its header: of a recorder that was killed, all packets up to
 * that encoder's head are there.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_PACKET_FILE_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_PACKET_FILE_H

#include "base/error.h"
#include "engine/packets/ring_layout.h"
#include "packet/encoder.h"

struct packet_file {
    char *path;                 /* owned */
    struct packet_ring *header; /* mapped: one page, which stays where it is */
    struct pt_encoder encoder;  /* its head: what has been encoded */
    uint8_t *gathered;          /* packets from stream position `written` on; owned */
    uint64_t written;           /* stream position: what is before it is in the file */
};

/* `folder`: DIR/translator. Replaces what is there. */
bool packet_file_create(struct packet_file *file, const char *folder, uint32_t serial,
                        struct error *error);

/* One that another recorder began: packets up to its encoder's head are kept, and new ones follow them.
 * ERROR_NOT_FOUND if not found. */
bool packet_file_open(struct packet_file *file, const char *folder, uint32_t serial,
                      struct error *error);

/* What was not flushed is lost. */
void packet_file_close(struct packet_file *file);

/* Writes what is gathered. False: the disk is full; then nothing has changed. */
bool packet_file_flush(struct packet_file *file);

/* Gives the disk space of packets from stream position `begin` to `end` back to the file system, as far
 * as it can take it. */
void packet_file_give_back(const struct packet_file *file, uint64_t begin, uint64_t end);

#endif
