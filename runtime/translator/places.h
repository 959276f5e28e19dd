/* Where the runtime asks for memory in the traced address space: all but the code cache, which lies near the code (cache.c).
 *
 * The kernel gives a program the highest hole that is large enough, downwards from at most 1 TB below the stack (with 28 random bits, the
 * usual value of vm.mmap_rnd_bits). A program may count on a hole that it has made: it moves a page away, and maps the address
 * again. So the runtime's memory lies far below, but where TSan leaves addresses to programs (from 0x7e8000000000 on:
 * tsan_platform.h of LLVM's compiler-rt). Addresses are hints: where one is taken the kernel chooses. MAP_FIXED_NOREPLACE would fail there,
 * but Chromium's sandbox ends a process for it (RestrictMmapFlags of its baseline seccomp policy).
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_PLACES_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_PLACES_H

/* The image's; the others are distances from it. Where a process that is attached to uses that, all lie some steps below. */
#define TR_PLACE 0x7e8000000000
#define TR_PLACE_STEP 0x10000000000
#define TR_PLACE_COUNT 15        /* above the heaps of programs at random addresses */
#define TR_PLACE_OWN 0x100000000 /* own_memory.c */
#define TR_PLACE_ARENA 0x1000000000

#endif
