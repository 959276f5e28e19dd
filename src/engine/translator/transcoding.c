#include "engine/translator/transcoding.h"

#include "base/log.h"
#include "base/memory.h"
#include "engine/translator/transcoder.h"

#include <stdlib.h>

struct transcoding {
    struct translator_arena *arena;
    char *folder; /* DIR/translator */
    struct fragments *fragments;
};

struct transcoding *transcoding_begin(struct translator_arena *arena, const char *directory,
                                      struct error *error)
{
    struct transcoding *transcoding = memory_allocate_zeroed(sizeof *transcoding);
    transcoding->arena = arena;
    transcoding->folder = memory_format("%s/translator", directory);
    transcoding->fragments = fragments_open(arena);
    return transcoding;
}

static bool transcode_slot(struct transcoding *transcoding, const struct tr_slot *slot,
                           struct callers *callers, struct error *error)
{
    struct transcoder transcoder;
    if (!transcoder_begin(&transcoder, transcoding->arena, transcoding->fragments, slot,
                          transcoding->folder, error))
        return false;
    transcoder.callers = callers;
    transcoder_begin_ring(&transcoder);
    transcoder_read(&transcoder);
    transcoder_finish(&transcoder);
    if (transcoder.damage.code != ERROR_NONE)
        log_warning("%s. What it tells is missing from the recording.", transcoder.damage.text);
    transcoder_close(&transcoder);
    return true;
}

bool transcoding_finish(struct transcoding *transcoding, struct callers *callers,
                        struct error *error)
{
    bool ok = true;
    uint32_t slots = translator_arena_slots(transcoding->arena);
    for (uint32_t serial = 0; ok && serial < slots; serial++) {
        struct error refused;
        const struct tr_slot *slot = translator_arena_slot(transcoding->arena, serial, &refused);
        if (slot)
            ok = transcode_slot(transcoding, slot, callers, error);
        else if (refused.code != ERROR_NOT_FOUND)
            log_warning("%s. The recording goes without it.", refused.text);
    }
    fragments_close(transcoding->fragments);
    free(transcoding->folder);
    free(transcoding);
    return ok;
}
