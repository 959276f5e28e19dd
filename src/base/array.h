/* A growable array of elements of one size.
 *
 *     struct array names = array_of(sizeof(char *));
 *     *(char **)array_add(&names) = memory_copy_string("main");
 *     for (size_t i = 0; i < names.count; i++)
 *         puts(*(char **)array_at(&names, i));
 *     array_free(&names);
 *
 * Growing moves the elements: keep indices, not pointers, across array_add. Growth is by half, so
 * that the unused tail is at most a third of what is allocated.
 */
#ifndef MAGIC_TRACE_BASE_ARRAY_H
#define MAGIC_TRACE_BASE_ARRAY_H

#include <stddef.h>
#include <stdint.h>

struct array {
    void *elements; /* owned; NULL before the first */
    size_t count;
    size_t capacity;
    size_t element_size; /* bytes */
};

struct array array_of(size_t element_size);

/* Allocates for `count` more elements. Worth while where their number is known: arrays that grow
 * one by one are moved many times. */
void array_reserve(struct array *array, size_t count);

/* Adds one element, all bytes 0, and returns its address, valid until the next is added. */
void *array_add(struct array *array);

/* Adds one element, all bytes 0, at `index`; elements from there on move up. */
void *array_insert(struct array *array, size_t index);

/* For elements that begin with a uint32_t key and are sorted by it: the index of the first one
 * whose key is not smaller than `key`, or their count if not found. */
size_t array_find_key(const struct array *array, uint32_t key);

/* Likewise of a uint64_t, as an address is. */
size_t array_find_key64(const struct array *array, uint64_t key);

/* Adds `count` elements copied from `elements`. */
void array_add_all(struct array *array, const void *elements, size_t count);

/* Element `index`, which must exist. */
static inline void *array_at(const struct array *array, size_t index)
{
    return (char *)array->elements + index * array->element_size;
}

/* Frees the elements and leaves an empty array that can be used again. */
void array_free(struct array *array);

#endif
