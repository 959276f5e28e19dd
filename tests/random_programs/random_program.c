/* Makes a random program, and runs it once: tests/random_programs/run calls this.
 *
 *   random_program SEED ITERATIONS PROGRAM OUTPUT [DROPPED ...]
 *
 * Writes the executable PROGRAM and what it prints when it runs natively. DROPPED are numbers of parts that are
 * left out. Prints the number of parts, and of instructions that this processor does not run. Exit status 3: the
 * program of this seed cannot be used, because it faults in a way that is not mended or runs for too long.
 */
#include "native_run.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>

enum { UNUSABLE = 3 };

int main(int argc, char **argv)
{
    static struct program program;
    static uint8_t room[CODE_MOST];
    if (argc < 5)
        errx(2, "usage: random_program SEED ITERATIONS PROGRAM OUTPUT [DROPPED ...]");
    program.seed = strtoull(argv[1], NULL, 0);
    program.iterations = (unsigned)strtoul(argv[2], NULL, 0);
    if (program.iterations == 0 || program.iterations > MOST_ITERATIONS)
        errx(2, "iterations are 1 to %d", MOST_ITERATIONS);
    program.code.bytes = room;
    for (int i = 5; i < argc; i++) {
        unsigned long number = strtoul(argv[i], NULL, 0);
        if (number < PARTS_MOST)
            program.is_dropped[number] = true;
    }
    program_make(&program);
    int faults = native_run(&program, argv[3], argv[4]);
    if (faults < 0)
        return UNUSABLE;
    printf("%u parts, %d faults\n", program.part_count, faults);
    return 0;
}
