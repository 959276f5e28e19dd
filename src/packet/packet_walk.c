#include "packet/packet_walk.h"

bool pt_packet_walk_next(struct pt_packet_walk *walk, struct pt_walked_packet *walked)
{
    if (walk->next >= walk->size)
        return false;
    walked->offset = walk->next;
    walked->status = pt_packet_decode(&walked->packet, walk->bytes + walk->next,
                                      walk->size - walk->next, walk->item_size);
    if (walked->status == PT_PACKET_OK)
        walk->item_size = pt_packet_next_item_size(&walked->packet, walk->item_size);
    else
        walked->packet = (struct pt_packet){.size = 1};
    walk->next += walked->packet.size;
    return true;
}
