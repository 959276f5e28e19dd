#include "base/array.h"

#include "base/memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct array array_of(size_t element_size)
{
    return (struct array){.element_size = element_size};
}

static void resize(struct array *array, size_t capacity)
{
    array->elements = memory_resize(array->elements, capacity * array->element_size);
    array->capacity = capacity;
}

static void grow(struct array *array, size_t count)
{
    enum { FEWEST = 8 };
    if (count <= array->capacity)
        return;
    size_t capacity = array->capacity + array->capacity / 2;
    if (capacity < count)
        capacity = count;
    resize(array, capacity < FEWEST ? FEWEST : capacity);
}

void array_reserve(struct array *array, size_t count)
{
    if (count > array->capacity - array->count)
        resize(array, array->count + count);
}

void *array_add(struct array *array)
{
    grow(array, array->count + 1);
    void *element = array_at(array, array->count++);
    return memset(element, 0, array->element_size);
}

void *array_insert(struct array *array, size_t index)
{
    array_add(array);
    char *element = array_at(array, index);
    memmove(element + array->element_size, element,
            (array->count - 1 - index) * array->element_size);
    return memset(element, 0, array->element_size);
}

static inline uint64_t key_at(const struct array *array, size_t index, bool is_wide)
{
    const void *element = array_at(array, index);
    return is_wide ? *(const uint64_t *)element : *(const uint32_t *)element;
}

static inline size_t find_key(const struct array *array, uint64_t key, bool is_wide)
{
    size_t low = 0, high = array->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (key_at(array, middle, is_wide) < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t array_find_key(const struct array *array, uint32_t key)
{
    return find_key(array, key, false);
}

size_t array_find_key64(const struct array *array, uint64_t key)
{
    return find_key(array, key, true);
}

void array_add_all(struct array *array, const void *elements, size_t count)
{
    if (count == 0)
        return;
    grow(array, array->count + count);
    memcpy(array_at(array, array->count), elements, count * array->element_size);
    array->count += count;
}

void array_free(struct array *array)
{
    free(array->elements);
    *array = array_of(array->element_size);
}
