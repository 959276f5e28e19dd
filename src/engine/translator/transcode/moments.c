#include "engine/translator/transcode/moments.h"

struct moment {
    uint64_t ticks, counted;
};

void moments_init(struct moments *moments, uint64_t start)
{
    *moments = (struct moments){.start = start, .noted = array_of(sizeof(struct moment))};
}

void moments_free(struct moments *moments)
{
    array_free(&moments->noted);
}

static const struct moment *moment_at(const struct moments *moments, size_t index)
{
    return array_at(&moments->noted, index);
}

void moments_add(struct moments *moments, uint64_t ticks, uint64_t counted)
{
    size_t count = moments->noted.count;
    if (count > 0 && ticks < moment_at(moments, count - 1)->ticks)
        ticks = moment_at(moments, count - 1)->ticks;
    *(struct moment *)array_add(&moments->noted) = (struct moment){ticks, counted};
}

uint64_t moments_convert(const struct moments *moments, uint64_t ticks)
{
    size_t first = 0, end = moments->noted.count; /* the first that is later */
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (moment_at(moments, middle)->ticks <= ticks)
            first = middle + 1;
        else
            end = middle;
    }
    return first > 0 ? moment_at(moments, first - 1)->counted : moments->start;
}
