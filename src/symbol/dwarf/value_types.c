#include "symbol/dwarf/value_types.h"

#include <dwarf.h>
#include <string.h>

enum {
    DEPTH_MAX = 12,     /* of types within types */
    TYPES_MAX = 4096,   /* of one value */
    MEMBERS_MAX = 64,   /* of a struct; more are not shown */
    NAMES_MAX = 4096,   /* of an enumeration */
    CHAIN_MAX = 64,     /* typedefs and qualifiers of one type */
    DIMENSIONS_MAX = 8, /* of an array */
};

static bool is_transparent(int tag)
{
    return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
           tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type;
}

bool value_type_entry(Dwarf_Die *entry, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    Dwarf_Die at = *entry;
    for (unsigned i = 0; i < CHAIN_MAX; i++) {
        if (!dwarf_formref_die(dwarf_attr_integrate(&at, DW_AT_type, &attribute), type))
            return false;
        if (!is_transparent(dwarf_tag(type)))
            return true;
        at = *type;
    }
    return false;
}

bool value_type_number(Dwarf_Die *entry, unsigned name, uint64_t *number)
{
    Dwarf_Attribute attribute;
    Dwarf_Word word;
    if (!dwarf_attr_integrate(entry, name, &attribute) || dwarf_formudata(&attribute, &word) != 0)
        return false;
    *number = word;
    return true;
}

bool value_type_bits(Dwarf_Die *member, uint64_t size, uint64_t *first, uint64_t *count)
{
    uint64_t location = 0, from_end;
    if (!value_type_number(member, DW_AT_bit_size, count))
        return false;
    if (value_type_number(member, DW_AT_data_bit_offset, first))
        return true;
    /* Before DWARF 4: from the highest bit of a number of that size at that place. */
    value_type_number(member, DW_AT_data_member_location, &location);
    value_type_number(member, DW_AT_byte_size, &size);
    if (!value_type_number(member, DW_AT_bit_offset, &from_end))
        return false;
    *first = 8 * location + 8 * size - from_end - *count;
    return true;
}

static bool is_large_real(Dwarf_Die *entry, const char *const *names)
{
    const char *name = dwarf_diename(entry);
    uint64_t encoding = 0, size = 0;
    if (dwarf_tag(entry) != DW_TAG_base_type || !name)
        return false;
    value_type_number(entry, DW_AT_encoding, &encoding);
    value_type_number(entry, DW_AT_byte_size, &size);
    if (!(encoding == DW_ATE_float && size == 16) &&
        !(encoding == DW_ATE_complex_float && size == 32))
        return false;
    while (*names && strcmp(name, *names) != 0)
        names++;
    return *names;
}

bool value_type_is_x87(Dwarf_Die *entry)
{
    /* Of C and C++, Fortran, D, and Ada. */
    static const char *const names[] = {
        "long double",      "_Float64x", "complex long double", "real(kind=10)",
        "complex(kind=10)", "real",      "long_long_float",     NULL};
    return is_large_real(entry, names);
}

bool value_type_is_quad(Dwarf_Die *entry)
{
    static const char *const names[] = {"_Float128", "__float128", "real(kind=16)", "f128", NULL};
    return is_large_real(entry, names);
}

/* What is read of one value. */
struct reading {
    struct arena *memory;
    unsigned types; /* so far */
};

static struct value_type *make(struct reading *reading, enum value_kind kind, uint64_t size)
{
    struct value_type *type = arena_allocate(reading->memory, sizeof *type);
    *type = (struct value_type){.kind = kind, .size = (uint32_t)size};
    return type;
}

static const char *name_of(Dwarf_Die *entry, struct reading *reading)
{
    const char *name = dwarf_diename(entry);
    return name ? arena_copy_string(reading->memory, name) : NULL;
}

static struct value_type *read_complex(Dwarf_Die *entry, uint64_t size, struct reading *reading)
{
    bool is_known = size == 2 * sizeof(float) || size == 2 * sizeof(double);
    if (!is_known && !value_type_is_x87(entry))
        return make(reading, VALUE_BYTES, size);
    struct value_type *type = make(reading, VALUE_COMPLEX, size);
    type->members = arena_allocate(reading->memory, sizeof *type->members);
    type->members[0] = (struct value_member){.type = make(reading, VALUE_FLOAT, size / 2)};
    type->member_count = 1;
    return type;
}

static struct value_type *read_base(Dwarf_Die *entry, uint64_t size, struct reading *reading)
{
    uint64_t encoding = 0;
    value_type_number(entry, DW_AT_encoding, &encoding);
    enum value_kind kind = VALUE_BYTES;
    bool is_unsigned = false;
    switch (encoding) {
    case DW_ATE_boolean:
        kind = VALUE_BOOL;
        break;
    case DW_ATE_signed:
        kind = VALUE_SIGNED;
        break;
    case DW_ATE_unsigned:
        kind = VALUE_UNSIGNED;
        break;
    case DW_ATE_unsigned_char:
    case DW_ATE_UTF:
        is_unsigned = true;
        /* fall through */
    case DW_ATE_signed_char:
        kind = VALUE_CHARACTER;
        break;
    case DW_ATE_float:
        if (size == sizeof(float) || size == sizeof(double) || value_type_is_x87(entry))
            kind = VALUE_FLOAT;
        break;
    case DW_ATE_complex_float:
        return read_complex(entry, size, reading);
    default:
        break;
    }
    struct value_type *type = make(reading, kind, size);
    type->is_unsigned = is_unsigned;
    return type;
}

/* Whether a pointer to it is one to text. */
static bool is_character(Dwarf_Die *entry)
{
    uint64_t encoding = 0, size = 0;
    if (dwarf_tag(entry) != DW_TAG_base_type ||
        !value_type_number(entry, DW_AT_encoding, &encoding) ||
        !value_type_number(entry, DW_AT_byte_size, &size))
        return false;
    return size == 1 && (encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char);
}

static struct value_type *read_pointer(Dwarf_Die *entry, struct reading *reading)
{
    Dwarf_Die to;
    bool is_text = dwarf_tag(entry) == DW_TAG_pointer_type && value_type_entry(entry, &to) &&
                   is_character(&to);
    return make(reading, is_text ? VALUE_STRING : VALUE_POINTER, sizeof(uint64_t));
}

static size_t count_inside(Dwarf_Die *entry, size_t most)
{
    Dwarf_Die inside;
    size_t count = 0;
    if (dwarf_child(entry, &inside) != 0)
        return 0;
    do
        count++;
    while (count < most && dwarf_siblingof(&inside, &inside) == 0);
    return count;
}

static struct value_type *read_enum(Dwarf_Die *entry, uint64_t size, struct reading *reading)
{
    struct value_type *type = make(reading, VALUE_ENUM, size);
    size_t most = count_inside(entry, NAMES_MAX);
    Dwarf_Die inside;
    type->is_unsigned = true;
    type->members = arena_allocate(reading->memory, (most + 1) * sizeof *type->members);
    if (most == 0 || dwarf_child(entry, &inside) != 0)
        return type;
    do {
        Dwarf_Attribute attribute;
        Dwarf_Sword value;
        if (dwarf_tag(&inside) != DW_TAG_enumerator ||
            dwarf_formsdata(dwarf_attr(&inside, DW_AT_const_value, &attribute), &value) != 0)
            continue;
        type->is_unsigned &= value >= 0;
        type->members[type->member_count++] =
            (struct value_member){.name = name_of(&inside, reading), .value = value};
    } while (type->member_count < most && dwarf_siblingof(&inside, &inside) == 0);
    return type;
}

static struct value_type *read_type(Dwarf_Die *entry, uint64_t most, unsigned depth,
                                    struct reading *reading);

/* A bit-field is in a number of its type within the structure: at a multiple of that type's size, or, packed, elsewhere. False: there is
 * no such number, as the field has bits of one byte more. */
static bool place_bits(struct value_member *member, uint64_t struct_size, uint64_t first,
                       uint64_t count)
{
    uint64_t size = member->type->size;
    if (size == 0 || size > sizeof(uint64_t) || size > struct_size || count == 0 ||
        count > 8 * size || first > 8 * struct_size)
        return false;
    uint64_t offset = first / (8 * size) * size;
    if (first + count > 8 * (offset + size))
        offset = first / 8;
    if (offset + size > struct_size)
        offset = struct_size - size;
    member->offset = (uint32_t)offset;
    member->bit = (uint32_t)(first - 8 * offset);
    member->bits = (uint32_t)count;
    return first >= 8 * offset && first + count <= 8 * (offset + size);
}

/* False: it is not one that can be shown. */
static bool read_member(Dwarf_Die *entry, uint64_t struct_size, unsigned depth,
                        struct reading *reading, struct value_member *member)
{
    Dwarf_Die type;
    uint64_t offset = 0, bit, bits;
    int tag = dwarf_tag(entry);
    Dwarf_Attribute attribute;
    bool is_static = dwarf_attr(entry, DW_AT_external, &attribute) != NULL;
    if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || is_static ||
        !value_type_entry(entry, &type))
        return false;
    value_type_number(entry, DW_AT_data_member_location, &offset);
    const struct value_type *read = read_type(&type, struct_size, depth + 1, reading);
    if (!read || offset > struct_size)
        return false;
    *member = (struct value_member){.name = name_of(tag == DW_TAG_member ? entry : &type, reading),
                                    .type = read,
                                    .offset = (uint32_t)offset};
    if (value_type_bits(entry, read->size, &bit, &bits))
        return place_bits(member, struct_size, bit, bits);
    return offset + read->size <= struct_size;
}

/* Strings of Go and Rust. */
static bool is_counted_string(Dwarf_Die *entry, const struct value_type *type)
{
    static const char *const names[][3] = {{"string", "str", "len"},
                                           {"&str", "data_ptr", "length"}};
    const char *name = dwarf_diename(entry);
    if (!name || type->size != 2 * sizeof(uint64_t) || type->member_count != 2)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *const *known = names[i];
        const struct value_member *members = type->members;
        if (strcmp(name, known[0]) == 0 && members[0].name && members[1].name &&
            strcmp(members[0].name, known[1]) == 0 && strcmp(members[1].name, known[2]) == 0)
            return members[0].offset == 0 && members[1].offset == sizeof(uint64_t);
    }
    return false;
}

static struct value_type *read_struct(Dwarf_Die *entry, uint64_t size, unsigned depth,
                                      struct reading *reading)
{
    struct value_type *type = make(reading, VALUE_STRUCT, size);
    size_t most = count_inside(entry, MEMBERS_MAX);
    Dwarf_Die inside;
    if (depth >= DEPTH_MAX)
        return make(reading, VALUE_BYTES, size);
    type->members = arena_allocate(reading->memory, (most + 1) * sizeof *type->members);
    if (most == 0 || dwarf_child(entry, &inside) != 0)
        return type;
    do {
        if (dwarf_tag(&inside) == DW_TAG_variant_part)
            return make(reading, VALUE_BYTES, size);
        if (read_member(&inside, size, depth, reading, &type->members[type->member_count]))
            type->member_count++;
    } while (type->member_count < most && dwarf_siblingof(&inside, &inside) == 0);
    if (is_counted_string(entry, type))
        type->kind = VALUE_COUNTED_STRING;
    return type;
}

/* Of the array's dimensions the count of each, outermost first; 0: one is unknown, or there are more than `room`. */
static size_t read_dimensions(Dwarf_Die *entry, uint64_t *counts, size_t room)
{
    Dwarf_Die inside;
    size_t dimensions = 0;
    if (dwarf_child(entry, &inside) != 0)
        return 0;
    do {
        uint64_t here;
        if (dwarf_tag(&inside) != DW_TAG_subrange_type)
            continue;
        if (value_type_number(&inside, DW_AT_upper_bound, &here))
            here++;
        else if (!value_type_number(&inside, DW_AT_count, &here))
            return 0;
        if (dimensions == room)
            return 0;
        counts[dimensions++] = here;
    } while (dwarf_siblingof(&inside, &inside) == 0);
    return dimensions;
}

static struct value_type *make_array(const struct value_type *element, uint64_t count,
                                     uint64_t most, struct reading *reading)
{
    if (count > most || element->size == 0 || count * element->size > most)
        return NULL;
    struct value_type *type = make(reading, VALUE_ARRAY, count * element->size);
    type->members = arena_allocate(reading->memory, sizeof *type->members);
    type->members[0] = (struct value_member){.type = element};
    type->member_count = 1;
    return type;
}

/* Of several dimensions: an array of arrays. */
static struct value_type *read_array(Dwarf_Die *entry, uint64_t most, unsigned depth,
                                     struct reading *reading)
{
    Dwarf_Die inner;
    uint64_t counts[DIMENSIONS_MAX];
    size_t dimensions = read_dimensions(entry, counts, DIMENSIONS_MAX);
    if (dimensions == 0 || depth >= DEPTH_MAX || !value_type_entry(entry, &inner))
        return NULL;
    struct value_type *type = read_type(&inner, most, depth + 1, reading);
    while (type && dimensions > 0)
        type = make_array(type, counts[--dimensions], most, reading);
    return type;
}

static struct value_type *read_type(Dwarf_Die *entry, uint64_t most, unsigned depth,
                                    struct reading *reading)
{
    uint64_t size = 0;
    int tag = dwarf_tag(entry);
    if (++reading->types > TYPES_MAX)
        return NULL;
    if (tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
        tag == DW_TAG_rvalue_reference_type)
        return read_pointer(entry, reading);
    if (tag == DW_TAG_array_type)
        return read_array(entry, most, depth, reading);
    if (!value_type_number(entry, DW_AT_byte_size, &size) || size == 0 || size > most)
        return NULL;
    switch (tag) {
    case DW_TAG_base_type:
        return read_base(entry, size, reading);
    case DW_TAG_enumeration_type:
        return read_enum(entry, size, reading);
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
        return read_struct(entry, size, depth, reading);
    case DW_TAG_ptr_to_member_type:
        return make(reading, VALUE_BYTES, size);
    default:
        return make(reading, VALUE_BYTES, size);
    }
}

struct value_type *value_type_read(Dwarf_Die *type, uint32_t most, struct arena *memory)
{
    struct reading reading = {.memory = memory};
    return read_type(type, most, 0, &reading);
}
