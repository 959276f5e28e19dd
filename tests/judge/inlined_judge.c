/* inlined_judge OBJECT STEP: what is inlined at every STEP-th address of the object's named
 * functions, as our reader of debug information says, before short runs are merged: a line per
 * address, with the symbols of the inlined functions, innermost first.
 *
 *     0x1204 mix step
 *
 * tests/e2e/symbol/inlined.py compares it with what addr2line -i says.
 */
#include "base/error.h"
#include "image/image_file.h"
#include "symbol/object.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void print_range(struct object *object, const struct table_range *range, uint64_t step)
{
    struct inlined_code code = object_inlined_code(object, range->start, range->end);
    const struct inlined_nesting *nesting = code.nesting.elements;
    const struct inlined_call *calls = code.calls.elements;
    for (uint64_t at = range->start; at < range->end; at += step) {
        const struct inlined_run *run = inlined_runs_find(code.runs.elements, code.runs.count, at);
        printf("0x%" PRIx64, at);
        for (inlined_index i = run ? run->innermost : 0; i != 0; i = nesting[i].parent)
            printf(" %s", calls[i].symbol);
        putchar('\n');
    }
    inlined_code_free(&code);
}

int main(int argc, char **argv)
{
    struct error error = {0};
    struct arena memory = {0};
    struct image_file file = {.path = argv[argc > 1], .local_path = argv[argc > 1]};
    uint64_t step = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
    if (step == 0 || !image_file_open(&file, &memory, &error) || !file.elf) {
        fprintf(stderr, "inlined_judge OBJECT STEP: %s\n",
                step ? "no such object" : "bad arguments");
        return 2;
    }
    struct object *object = object_open(&file);
    for (uint32_t i = 0; i < object->table.range_count; i++)
        if (object->table.functions[object->table.ranges[i].function].symbol)
            print_range(object, &object->table.ranges[i], step);
    object_close(object);
    image_file_close(&file);
    arena_free(&memory);
    return 0;
}
