/* What index_fuzz begins with: small indexes of made-up traces, with small chunks and many levels.
 *
 *     index_seed FOLDER
 */
#include "index/build/index_build.h"
#include "made_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 12 };

static bool write_seed(const char *folder, uint64_t seed, struct error *error)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/made_%llu", folder, (unsigned long long)seed);
    const struct index_layout layout = {
        .chunk_items = 4 + (uint32_t)seed,
        .level_ratio = 1 + seed % 3,
        .level_enough = 4,
        .bucket_calls = 8 * seed,
    };
    struct made_trace *trace = made_trace_new(seed, 20 * seed);
    bool ok = index_build_as(made_trace_source(trace), path, 1, &layout, error);
    made_trace_free(trace);
    size_t size;
    char *bytes = ok ? file_read(path, &size, error) : NULL;
    FILE *file = bytes ? fopen(path, "wb") : NULL;
    if (file) { /* after the choice of questions */
        fwrite(&seed, sizeof seed, 1, file);
        fwrite(bytes, size, 1, file);
        ok = fclose(file) == 0;
    }
    free(bytes);
    return ok && file;
}

int main(int argc, char **argv)
{
    struct error error = {0};
    for (uint64_t seed = 1; argc == 2 && seed <= SEEDS; seed++)
        if (!write_seed(argv[1], seed, &error)) {
            fprintf(stderr, "cannot write seeds: %s\n", error.text);
            return 1;
        }
    return argc == 2 ? 0 : 2;
}
