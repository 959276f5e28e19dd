/* Empties places in its address space and fills them again, counting on finding them empty, as a process may that alone
 * knows what it maps.
 *
 * `emptied_places` says "ready" when its places are empty. For each line of its input it fills each one, and says "found" or "lost"; with
 * "empty" it empties them again. At the input's end it says "done". `emptied_places crowded` has a page at 0x7e8000000000, where the translator
 * asks for memory first.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, WAYS = 3, PLACES = 4 * WAYS };

static const uintptr_t crowded_place = 0x7e8000000000;

/* One page, 8, 64 and 512. */
static size_t size_of(unsigned place)
{
    return (size_t)PAGE << 3 * (place / WAYS);
}

/* By address alone, an address that the kernel shall not replace what it has at, or an address that it may replace it at. */
static int flags_of(unsigned place)
{
    static const int flags[WAYS] = {0, MAP_FIXED_NOREPLACE, MAP_FIXED};
    return MAP_PRIVATE | MAP_ANONYMOUS | flags[place % WAYS];
}

static uint8_t *places[PLACES], *moved[PLACES];

/* The function there returns the number of its place. */
static bool fill(unsigned place)
{
    static const uint8_t code[] = {0xb8, 0, 0, 0, 0, 0xc3}; /* mov eax, 0; ret */
    uint8_t *at =
        mmap(places[place], size_of(place), PROT_READ | PROT_WRITE, flags_of(place), -1, 0);
    if (at == MAP_FAILED || (places[place] && at != places[place]))
        return false;
    memcpy(at, code, sizeof code);
    memcpy(at + 1, &place, sizeof place);
    places[place] = at;
    return mprotect(at, size_of(place), PROT_READ | PROT_EXEC) == 0;
}

static bool runs(unsigned place, const uint8_t *at)
{
    return ((unsigned (*)(void))(uintptr_t)at)() == place;
}

/* Every other one is moved away, and the others are unmapped. */
static bool empty(unsigned place)
{
    size_t size = size_of(place);
    if (place % 2)
        return munmap(places[place], size) == 0;
    moved[place] = mremap(places[place], size, size, MREMAP_MAYMOVE | MREMAP_FIXED, moved[place]);
    return moved[place] != MAP_FAILED && runs(place, moved[place]);
}

static bool empty_all(void)
{
    bool ok = true;
    for (unsigned place = 0; place < PLACES; place++)
        ok &= empty(place);
    return ok;
}

static bool fill_all(void)
{
    bool ok = true;
    for (unsigned place = 0; place < PLACES; place++)
        ok &= fill(place) && runs(place, places[place]);
    return ok;
}

/* All places lie between others, which stay. */
static bool find_places(void)
{
    bool ok = true;
    for (unsigned place = 0; place < PLACES; place++) {
        size_t size = size_of(place);
        uint8_t *found = mmap(NULL, size + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        moved[place] = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ok &= found != MAP_FAILED && moved[place] != MAP_FAILED;
        places[place] = found + PAGE;
    }
    for (unsigned place = 0; place < PLACES; place++)
        ok &= munmap(places[place], size_of(place)) == 0;
    return ok;
}

int main(int argc, char **argv)
{
    char line[16];
    bool crowded = argc > 1 && strcmp(argv[1], "crowded") == 0;
    if (crowded && mmap((void *)crowded_place, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                        0) != (void *)crowded_place)
        return 1;
    bool ok = find_places() && fill_all() && empty_all();
    puts(ok ? "ready" : "lost");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        ok = strcmp(line, "empty\n") == 0 ? empty_all() : fill_all();
        puts(ok ? "found" : "lost");
        fflush(stdout);
    }
    puts("done");
    return 0;
}
