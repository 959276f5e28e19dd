/* A file of packets that grows: what the transcoder writes of one thread.
 *
 * DIR/translator/ring.SERIAL has the layout of a ring in full execution (struct packet_ring), so that
 * the collector reads it as it reads the qemu engine's. The encoder lies in its header: of a
 * recorder that was killed, all packets up to the encoder's head are there.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_PACKET_FILE_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_PACKET_FILE_H

#include "base/error.h"
#include "engine/packets/ring_layout.h"
#include "packet/encoder.h"

struct packet_file {
    char *path;                 /* owned */
    struct packet_ring *header; /* mapped: one page, which stays where it is */
    uint8_t *packets;           /* mapped; moves when the file grows */
    uint64_t room;              /* bytes of packets that are mapped and have disk space */
};

/* `folder`: DIR/translator. Replaces what is there. */
bool packet_file_create(struct packet_file *file, const char *folder, uint32_t serial,
                        struct error *error);

/* One that another recorder began: packets up to its encoder's head are kept, and new ones follow them.
 * ERROR_NOT_FOUND when there is none. */
bool packet_file_open(struct packet_file *file, const char *folder, uint32_t serial,
                      struct error *error);

void packet_file_close(struct packet_file *file);

/* Nothing more will be written: the file becomes as small as its packets allow. It can be opened again. */
void packet_file_trim(struct packet_file *file);

struct pt_encoder *packet_file_encoder(const struct packet_file *file);

/* As pt_encoder_owner.make_room. False, and noted in the header: the disk is full. */
bool packet_file_grow(struct packet_file *file);

/* Gives the disk space of packets from stream position `begin` to `end` back to the file system, as far
 * as it can take it. */
void packet_file_give_back(const struct packet_file *file, uint64_t begin, uint64_t end);

#endif
