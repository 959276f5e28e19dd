#include "symbol/dwarf/go_convention.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum {
    WORD = 8,
    DEPTH_MAX = 32,       /* of types within types */
    VECTORS_RECORDED = 8, /* xmm0 to xmm7, which the runtime reads */
    FIRST_WITH_REGISTERS = 17,
};

/* rax, rbx, rcx, rdi, rsi, r8 to r11 */
const uint8_t go_general_registers[GO_GENERAL_REGISTERS] = {0, 3, 1, 7, 6, 8, 9, 10, 11};

bool go_passes_registers(Dwarf_Die *unit)
{
    Dwarf_Attribute attribute;
    const char *producer = dwarf_formstring(dwarf_attr(unit, DW_AT_producer, &attribute));
    const char *version = producer ? strstr(producer, "go1.") : NULL;
    if (!producer)
        return false;
    return strstr(producer, "; regabi") ||
           (version && strtoul(version + strlen("go1."), NULL, 10) >= FIRST_WITH_REGISTERS);
}

/* ---- registers ---- */

/* The numbers and pointers that a value consists of. */
struct parts {
    unsigned general, vector;
    bool is_in_memory; /* an array of several elements, or something unknown, is in it */
};

static bool is_struct(const struct value_type *type)
{
    return type->kind == VALUE_STRUCT || type->kind == VALUE_COUNTED_STRING;
}

static void count_parts(const struct value_type *type, unsigned depth, struct parts *parts)
{
    if (is_struct(type)) {
        for (size_t i = 0; i < type->member_count && depth < DEPTH_MAX; i++)
            count_parts(type->members[i].type, depth + 1, parts);
        parts->is_in_memory |= depth >= DEPTH_MAX;
    } else if (type->kind == VALUE_ARRAY && type->size == type->members[0].type->size &&
               depth < DEPTH_MAX) {
        count_parts(type->members[0].type, depth + 1, parts);
    } else if (type->kind == VALUE_COMPLEX) {
        parts->vector += 2;
    } else if (type->kind == VALUE_ARRAY || type->kind == VALUE_BYTES || type->size > WORD) {
        parts->is_in_memory = true;
    } else if (type->kind == VALUE_FLOAT) {
        parts->vector++;
    } else {
        parts->general++;
    }
}

static void add_place(struct signature_value *value, enum value_place_kind kind, unsigned number)
{
    if (value->place_count < VALUE_PLACES_MAX)
        value->places[value->place_count++] =
            (struct value_place){.kind = kind, .number = (uint8_t)number, .size = WORD};
}

static void place_parts(struct go_allocation *allocation, const struct value_type *type,
                        struct signature_value *value)
{
    if (is_struct(type))
        for (size_t i = 0; i < type->member_count; i++)
            place_parts(allocation, type->members[i].type, value);
    else if (type->kind == VALUE_ARRAY)
        place_parts(allocation, type->members[0].type, value);
    else if (type->kind == VALUE_FLOAT)
        add_place(value, PLACE_VECTOR, allocation->vector++);
    else if (type->kind == VALUE_COMPLEX)
        for (int i = 0; i < 2; i++)
            add_place(value, PLACE_VECTOR, allocation->vector++);
    else
        add_place(value, PLACE_REGISTER, go_general_registers[allocation->general++]);
}

static const struct value_type *spread_complex(const struct value_type *type, struct arena *memory)
{
    static const char *const names[] = {"real", "imag"};
    struct value_type *made = arena_allocate(memory, sizeof *made);
    *made = (struct value_type){.kind = VALUE_STRUCT, .size = 2 * WORD, .member_count = 2};
    made->members = arena_allocate(memory, made->member_count * sizeof *made->members);
    for (uint32_t i = 0; i < 2; i++)
        made->members[i] = (struct value_member){
            .name = names[i], .offset = i * WORD, .type = type->members[0].type};
    return made;
}

/* The type with a word for each part. */
static const struct value_type *spread(const struct value_type *type, struct arena *memory)
{
    if (type->kind == VALUE_COMPLEX && type->size == WORD)
        return spread_complex(type, memory);
    if (!is_struct(type) && type->kind != VALUE_ARRAY)
        return type;
    struct value_type *made = arena_allocate(memory, sizeof *made);
    *made = *type;
    made->size = 0;
    made->members = arena_allocate(memory, (type->member_count + 1) * sizeof *made->members);
    for (size_t i = 0; i < type->member_count; i++) {
        struct value_member *member = &made->members[i];
        *member = type->members[i];
        member->offset = made->size;
        member->type = spread(member->type, memory);
        made->size += (member->type->size + WORD - 1) / WORD * WORD;
    }
    return made;
}

static bool is_recorded(const struct signature_value *value)
{
    for (size_t i = 0; i < value->place_count; i++)
        if (value->places[i].kind == PLACE_VECTOR && value->places[i].number >= VECTORS_RECORDED)
            return false;
    return true;
}

/* ---- the stack ---- */

static uint32_t alignment_of(const struct value_type *type, unsigned depth)
{
    uint32_t most = 1;
    if (type->kind == VALUE_COMPLEX)
        return type->size / 2;
    if (!is_struct(type) && type->kind != VALUE_ARRAY)
        return type->size < WORD && type->size > 0 ? type->size : WORD;
    for (size_t i = 0; i < type->member_count && depth < DEPTH_MAX; i++) {
        uint32_t member = alignment_of(type->members[i].type, depth + 1);
        most = member > most ? member : most;
    }
    return most;
}

static uint32_t aligned(uint32_t offset, uint32_t alignment)
{
    return (offset + alignment - 1) / alignment * alignment;
}

static void place_on_stack(struct go_allocation *allocation, const struct value_type *type,
                           struct signature_value *value)
{
    allocation->stack = aligned(allocation->stack, alignment_of(type, 0));
    value->places[value->place_count++] = (struct value_place){
        .kind = PLACE_STACK, .size = type->size, .offset = (int32_t)allocation->stack};
    allocation->stack += type->size;
}

/* ---- values ---- */

void go_place(struct go_allocation *allocation, const struct value_type *type, struct arena *memory,
              struct signature_value *value)
{
    struct parts parts = {0};
    value->value.type = NULL;
    value->place_count = 0;
    allocation->is_lost |= !type;
    if (allocation->is_lost)
        return;
    count_parts(type, 0, &parts);
    bool fits = allocation->by_registers && !parts.is_in_memory &&
                allocation->general + parts.general <= GO_GENERAL_REGISTERS &&
                allocation->vector + parts.vector <= GO_VECTOR_REGISTERS;
    if (!fits) {
        place_on_stack(allocation, type, value);
        value->value.type = type;
        return;
    }
    place_parts(allocation, type, value);
    if (parts.general + parts.vector <= VALUE_PLACES_MAX && is_recorded(value))
        value->value.type = spread(type, memory);
}

void go_begin_results(struct go_allocation *allocation)
{
    allocation->general = allocation->vector = 0;
    allocation->stack = aligned(allocation->stack, WORD);
}

bool go_join_results(const struct signature_value *results, size_t count, struct arena *memory,
                     struct signature_value *joined)
{
    struct value_type *type = arena_allocate(memory, sizeof *type);
    *type = (struct value_type){.kind = VALUE_STRUCT};
    *joined = (struct signature_value){.value.type = type};
    type->members = arena_allocate(memory, (count + 1) * sizeof *type->members);
    for (size_t i = 0; i < count; i++) {
        const struct signature_value *result = &results[i];
        if (!result->value.type || joined->place_count + result->place_count > VALUE_PLACES_MAX)
            return false;
        type->members[type->member_count++] = (struct value_member){
            .name = result->value.name, .offset = type->size, .type = result->value.type};
        type->size += (uint32_t)result->place_count * WORD;
        for (size_t j = 0; j < result->place_count; j++) {
            if (result->places[j].kind == PLACE_STACK)
                return false;
            joined->places[joined->place_count++] = result->places[j];
        }
    }
    return true;
}
