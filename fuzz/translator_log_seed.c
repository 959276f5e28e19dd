/* What translator_log_fuzz begins with: logs of random walks through real code.
 *
 *     translator_log_seed FOLDER
 */
#include "fuzz/translator_log_input.h"
#include "random_walk.h"

#include <stdio.h>
#include <stdlib.h>

enum { SEEDS = 8 };

static void write_seed(const char *folder, unsigned seed)
{
    struct made_arena made;
    struct walk walk;
    char path[4096];
    made_arena_open(&made, NULL);
    walk_make(&walk, &(struct walk_options){.seed = seed, .steps = 30 * seed, .signals = seed % 2});
    walk_log(&walk, &made, NULL);
    uint64_t described = atomic_load(&made.table->tail) - TR_PAGE;
    struct translator_log_input input = {
        .table_size = {(uint32_t)described, 0},
        .first = {made.table->first, 1000},
        .parent = {UINT32_MAX, 0},
        .table = seed % 3 == 0, /* the child of the other */
        .head = made.position,
        .chunks = {0, UINT64_MAX, UINT64_MAX, UINT64_MAX},
    };
    snprintf(path, sizeof path, "%s/walk_%u", folder, seed);
    FILE *file = fopen(path, "wb");
    if (!file) {
        perror(path);
        exit(1);
    }
    fwrite(&input, sizeof input, 1, file);
    fwrite((const uint8_t *)made.table + TR_PAGE, described, 1, file);
    fwrite((const uint8_t *)made.slot + TR_SLOT_RING, made.position, 1, file);
    fclose(file);
    walk_free(&walk);
    made_arena_close(&made);
}

int main(int argc, char **argv)
{
    for (unsigned seed = 1; argc == 2 && seed <= SEEDS; seed++)
        write_seed(argv[1], seed);
    return argc == 2 ? 0 : 2;
}
