#include "image/address_space.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

void address_space_cursor_init(struct address_space_cursor *cursor, const struct process *process)
{
    *cursor = (struct address_space_cursor){.process = process};
}

void address_space_cursor_free(struct address_space_cursor *cursor)
{
    free(cursor->mappings);
    *cursor = (struct address_space_cursor){0};
}

/* Index of the first mapping that ends after `address`. */
static size_t first_ending_after(const struct mapping *mappings, size_t count, uint64_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (mappings[middle].end > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Replaces the mappings [first, last) by `count` others. */
static void replace_mappings(struct address_space_cursor *cursor, size_t first, size_t last,
                             const struct mapping *mappings, size_t count)
{
    size_t new_count = cursor->mapping_count - (last - first) + count;
    if (new_count > cursor->mapping_capacity) {
        cursor->mapping_capacity = new_count + new_count / 2 + 16;
        cursor->mappings =
            memory_resize(cursor->mappings, cursor->mapping_capacity * sizeof *cursor->mappings);
    }
    memmove(cursor->mappings + first + count, cursor->mappings + last,
            (cursor->mapping_count - last) * sizeof *cursor->mappings);
    memcpy(cursor->mappings + first, mappings, count * sizeof *mappings);
    cursor->mapping_count = new_count;
}

/* Most of a patched page is as it was; code that was compiled where a library lay before is not. */
static bool mostly_equal(const struct mapping *dump, const struct image_file *object,
                         uint64_t object_offset)
{
    const struct file_view *a = &dump->file->view, *b = &object->view;
    uint64_t size = dump->end - dump->start, equal = 0;
    if (dump->file_offset > a->size || size > a->size - dump->file_offset ||
        object_offset > b->size || size > b->size - object_offset)
        return false;
    for (uint64_t i = 0; i < size; i++)
        equal += a->bytes[dump->file_offset + i] == b->bytes[object_offset + i];
    return equal > size / 2;
}

/* When `dump` covers part of an object, or of an earlier dump of it, remembers which. */
static void recognise_patched_page(struct mapping *dump, const struct mapping *below)
{
    if (!dump->file->jit || dump->patched || below->start > dump->start || below->end < dump->end)
        return;
    const struct image_file *object = below->patched ? below->patched : below->file;
    uint64_t offset = (below->patched ? below->patched_offset : below->file_offset) +
                      (dump->start - below->start);
    if (object->elf && !object->jit && mostly_equal(dump, object, offset)) {
        dump->patched = object;
        dump->patched_offset = offset;
    }
}

/* The part of `mapping` from `start` on. */
static struct mapping tail_of(const struct mapping *mapping, uint64_t start)
{
    struct mapping tail = *mapping;
    tail.start = start;
    tail.file_offset += start - mapping->start;
    tail.patched_offset += start - mapping->start;
    return tail;
}

/* A new mapping hides what it covers; of what it covers in part, the rest stays. */
static void apply_map(struct address_space_cursor *cursor, const struct mapping *mapping)
{
    size_t first = first_ending_after(cursor->mappings, cursor->mapping_count, mapping->start);
    size_t last = first;
    while (last < cursor->mapping_count && cursor->mappings[last].start < mapping->end)
        last++;

    struct mapping parts[3];
    size_t count = 0;
    if (first < last && cursor->mappings[first].start < mapping->start) {
        parts[count] = cursor->mappings[first];
        parts[count++].end = mapping->start;
    }
    parts[count] = *mapping;
    if (first < last)
        recognise_patched_page(&parts[count], &cursor->mappings[first]);
    count++;
    if (first < last && cursor->mappings[last - 1].end > mapping->end)
        parts[count++] = tail_of(&cursor->mappings[last - 1], mapping->end);
    replace_mappings(cursor, first, last, parts, count);
}

bool address_space_cursor_advance(struct address_space_cursor *cursor, struct ticks time)
{
    const struct process *process = cursor->process;
    size_t before = cursor->next_change;
    while (process && cursor->next_change < process->change_count &&
           process->changes[cursor->next_change].time.value <= time.value) {
        const struct address_space_change *change = &process->changes[cursor->next_change++];
        if (change->kind == ADDRESS_SPACE_CLEAR)
            cursor->mapping_count = 0;
        else
            apply_map(cursor, &change->mapping);
    }
    return cursor->next_change != before;
}

static const struct mapping *find_mapping(const struct mapping *mappings, size_t count,
                                          uint64_t address)
{
    size_t index = first_ending_after(mappings, count, address);
    return index < count && mappings[index].start <= address ? &mappings[index] : NULL;
}

const struct mapping *address_space_find(const struct address_space_cursor *cursor,
                                         uint64_t address)
{
    const struct mapping *own = find_mapping(cursor->mappings, cursor->mapping_count, address);
    const struct kernel_space *kernel = cursor->process ? cursor->process->kernel : NULL;
    return own || !kernel ? own : find_mapping(kernel->mappings, kernel->mapping_count, address);
}

static int compare_pid(const void *key, const void *element)
{
    uint32_t pid = *(const uint32_t *)key, other = ((const struct process *)element)->pid;
    return (pid > other) - (pid < other);
}

const struct process *address_spaces_process(const struct address_spaces *spaces, uint32_t pid)
{
    if (spaces->process_count == 0)
        return NULL;
    return bsearch(&pid, spaces->processes, spaces->process_count, sizeof *spaces->processes,
                   compare_pid);
}

static int compare_tid(const void *key, const void *element)
{
    uint32_t tid = *(const uint32_t *)key, other = ((const struct thread *)element)->tid;
    return (tid > other) - (tid < other);
}

const struct thread *address_spaces_thread(const struct address_spaces *spaces, uint32_t tid)
{
    if (spaces->thread_count == 0)
        return NULL;
    return bsearch(&tid, spaces->threads, spaces->thread_count, sizeof *spaces->threads,
                   compare_tid);
}
