#include "symbol/dwarf/value_classes.h"

#include "symbol/dwarf/value_types.h"

#include <dwarf.h>
#include <string.h>

enum {
    DEPTH_MAX = 16,     /* of types within types */
    ENTRIES_MAX = 4096, /* of one type */
    IN_REGISTERS = EIGHTBYTES_MAX * EIGHTBYTE,
};

/* What was found so far of one type. */
struct walk {
    struct value_classes classes;
    unsigned entries;
    bool is_incomplete; /* there is something in it that is not known */
    bool has_fields;    /* bytes that are not padding */
    bool has_empty;     /* classes without fields */
    bool is_unaligned;
    bool has_quad;
    bool is_undecided; /* all of it is one value whose class debug information does not give */
};

static enum value_class merged(enum value_class a, enum value_class b)
{
    if (a == b || b == CLASS_NONE)
        return a;
    if (a == CLASS_NONE)
        return b;
    if (a == CLASS_MEMORY || b == CLASS_MEMORY)
        return CLASS_MEMORY;
    if (a == CLASS_INTEGER || b == CLASS_INTEGER)
        return CLASS_INTEGER;
    return a == CLASS_X87 || b == CLASS_X87 ? CLASS_MEMORY : CLASS_SSE;
}

static void align(struct walk *walk, uint64_t alignment)
{
    if (alignment > walk->classes.alignment)
        walk->classes.alignment = alignment;
}

/* `size` bytes that are one number. */
static void add_field(struct walk *walk, uint64_t offset, uint64_t size, uint64_t alignment,
                      enum value_class class)
{
    if (size == 0)
        return;
    walk->has_fields = true;
    walk->is_unaligned |= alignment > 1 && offset % alignment != 0;
    align(walk, alignment);
    for (uint64_t at = offset / EIGHTBYTE;
         at <= (offset + size - 1) / EIGHTBYTE && at < EIGHTBYTES_MAX; at++)
        walk->classes.of[at] = merged(walk->classes.of[at], class);
}

/* A number that fills an xmm register. */
static void add_whole_register(struct walk *walk, uint64_t offset)
{
    add_field(walk, offset, EIGHTBYTE, 2 * EIGHTBYTE, CLASS_SSE);
    add_field(walk, offset + EIGHTBYTE, EIGHTBYTE, EIGHTBYTE, CLASS_SSE_UP);
}

/* Debug information does not say which class. In a large structure it makes no difference. */
static void add_undecided(struct walk *walk, uint64_t offset, uint64_t size)
{
    add_field(walk, offset, size, size & (size - 1) ? 1 : size, CLASS_MEMORY);
    walk->is_incomplete = true;
    walk->is_undecided |= size == walk->classes.size;
}

/* False: it is not known. */
static bool size_of(Dwarf_Die *entry, uint64_t *size)
{
    Dwarf_Die target;
    Dwarf_Word found;
    const char *name = dwarf_diename(entry);
    *size = EIGHTBYTE;
    switch (dwarf_tag(entry)) {
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
        return true;
    case DW_TAG_ptr_to_member_type:
        if (value_type_entry(entry, &target) && dwarf_tag(&target) == DW_TAG_subroutine_type)
            *size = 2 * EIGHTBYTE;
        return true;
    case DW_TAG_unspecified_type:
        return name && strcmp(name, "decltype(nullptr)") == 0;
    default:
        if (dwarf_aggregate_size(entry, &found) != 0)
            return false;
        *size = found;
        return true;
    }
}

/* ---- numbers ---- */

static void walk_float(Dwarf_Die *entry, uint64_t offset, uint64_t size, struct walk *walk)
{
    if (size <= EIGHTBYTE)
        add_field(walk, offset, size, size, CLASS_SSE);
    else if (value_type_is_x87(entry))
        add_field(walk, offset, size, size, CLASS_X87);
    else if (value_type_is_quad(entry))
        add_whole_register(walk, offset);
    else
        add_undecided(walk, offset, size);
    walk->has_quad |= value_type_is_quad(entry);
}

static void walk_complex(Dwarf_Die *entry, uint64_t offset, uint64_t size, struct walk *walk)
{
    if (size <= IN_REGISTERS)
        add_field(walk, offset, size, size / 2, CLASS_SSE);
    else if (value_type_is_x87(entry))
        add_field(walk, offset, size, size / 2, CLASS_X87);
    else
        add_undecided(walk, offset, size);
}

static void walk_base(Dwarf_Die *entry, uint64_t offset, uint64_t size, struct walk *walk)
{
    uint64_t encoding = 0;
    value_type_number(entry, DW_AT_encoding, &encoding);
    switch (encoding) {
    case DW_ATE_float:
        walk_float(entry, offset, size, walk);
        break;
    case DW_ATE_complex_float:
        walk_complex(entry, offset, size, walk);
        break;
    case DW_ATE_decimal_float:
        if (size <= EIGHTBYTE)
            add_field(walk, offset, size, size, CLASS_SSE);
        else
            add_whole_register(walk, offset);
        break;
    case DW_ATE_lo_user: /* a complex integer of gcc's and clang's */
        add_field(walk, offset, size, size / 2, CLASS_INTEGER);
        break;
    default:
        walk->classes.is_int128 |= size == 2 * EIGHTBYTE && size == walk->classes.size;
        add_field(walk, offset, size, size & (size - 1) ? 1 : size, CLASS_INTEGER);
        break;
    }
}

/* ---- what consists of several ---- */

static void walk_type(Dwarf_Die *entry, uint64_t offset, unsigned depth, struct walk *walk);

/* One without a size, at the end of a structure, is of the class of its elements for gcc, and in memory for clang. */
static void walk_array(Dwarf_Die *entry, uint64_t offset, uint64_t size, unsigned depth,
                       struct walk *walk)
{
    Dwarf_Die element;
    Dwarf_Attribute attribute;
    uint64_t each;
    bool is_vector = dwarf_attr_integrate(entry, DW_AT_GNU_vector, &attribute) != NULL;
    if (!value_type_entry(entry, &element) || !size_of(&element, &each) || each == 0)
        walk->is_incomplete |= size > 0;
    else if (!is_vector)
        for (uint64_t at = 0; at < size && (at == 0 || offset + at < IN_REGISTERS); at += each)
            walk_type(&element, offset + at, depth + 1, walk);
    else if (size == 2 * EIGHTBYTE)
        add_whole_register(walk, offset);
    else if (size == EIGHTBYTE && each < EIGHTBYTE)
        add_field(walk, offset, size, size, CLASS_SSE);
    else
        add_undecided(walk, offset, size); /* by the instruction set, and by the compiler */
}

static void walk_member(Dwarf_Die *member, uint64_t offset, unsigned depth, struct walk *walk)
{
    Dwarf_Die type;
    uint64_t at = 0, alignment, size, bit, bits;
    if (!value_type_entry(member, &type) || !size_of(&type, &size)) {
        walk->is_incomplete = true;
        return;
    }
    if (value_type_number(member, DW_AT_alignment, &alignment))
        align(walk, alignment);
    if (value_type_bits(member, size, &bit, &bits)) {
        uint64_t first = offset + bit / 8, end = offset + (bit + bits + 7) / 8;
        add_field(walk, first, end - first, 1, CLASS_INTEGER);
        return;
    }
    value_type_number(member, DW_AT_data_member_location, &at);
    walk_type(&type, offset + at, depth + 1, walk);
}

static void walk_struct(Dwarf_Die *entry, uint64_t offset, uint64_t size, unsigned depth,
                        struct walk *walk)
{
    Dwarf_Die inside;
    Dwarf_Attribute attribute;
    bool had_fields = walk->has_fields;
    walk->has_fields = false;
    if (dwarf_child(entry, &inside) == 0)
        do {
            if (dwarf_tag(&inside) == DW_TAG_variant_part) /* Rust's enumerations */
                add_field(walk, offset, size, 1, CLASS_INTEGER);
            else if ((dwarf_tag(&inside) == DW_TAG_member ||
                      dwarf_tag(&inside) == DW_TAG_inheritance) &&
                     !dwarf_attr(&inside, DW_AT_external, &attribute))
                walk_member(&inside, offset, depth, walk);
        } while (dwarf_siblingof(&inside, &inside) == 0);
    walk->has_empty |= !walk->has_fields;
    walk->has_fields |= had_fields;
}

static void walk_type(Dwarf_Die *entry, uint64_t offset, unsigned depth, struct walk *walk)
{
    uint64_t size, alignment;
    if (depth > DEPTH_MAX || ++walk->entries > ENTRIES_MAX || !size_of(entry, &size)) {
        walk->is_incomplete = true;
        return;
    }
    if (value_type_number(entry, DW_AT_alignment, &alignment))
        align(walk, alignment);
    switch (dwarf_tag(entry)) {
    case DW_TAG_base_type:
        walk_base(entry, offset, size, walk);
        break;
    case DW_TAG_array_type:
        walk_array(entry, offset, size, depth, walk);
        break;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
        walk_struct(entry, offset, size, depth, walk);
        break;
    case DW_TAG_ptr_to_member_type:
        add_field(walk, offset, size, EIGHTBYTE, CLASS_INTEGER);
        break;
    default:
        add_field(walk, offset, size, size & (size - 1) ? 1 : size, CLASS_INTEGER);
        break;
    }
}

/* ---- the whole ---- */

static bool is_of_cpp(Dwarf_Die *type)
{
    static const int languages[] = {DW_LANG_C_plus_plus,    DW_LANG_C_plus_plus_03,
                                    DW_LANG_C_plus_plus_11, DW_LANG_C_plus_plus_14,
                                    0x2a /* C++ 17 */,      0x2b /* C++ 20 */};
    Dwarf_Die unit;
    int language = dwarf_diecu(type, &unit, NULL, NULL) ? dwarf_srclang(&unit) : -1;
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++)
        if (language == languages[i])
            return true;
    return false;
}

/* Of one without fields. Elsewhere than in C++ it has bit-fields without a name, which gcc passes and clang does not. A large one has, for
 * clang, a place on the stack. */
static enum value_class class_of_empty(Dwarf_Die *type, const struct walk *walk)
{
    bool is_agreed = walk->classes.size == 0 || is_of_cpp(type);
    return is_agreed && walk->classes.size <= IN_REGISTERS ? CLASS_NONE : CLASS_UNKNOWN;
}

/* Of one in registers: whether it is not clear if an eightbyte is padding or has bit-fields without a name. */
static bool has_doubtful_padding(const struct walk *walk)
{
    const enum value_class *of = walk->classes.of;
    if (walk->classes.size <= EIGHTBYTE || walk->has_empty)
        return false;
    return of[0] == CLASS_NONE || (of[1] == CLASS_NONE && walk->classes.alignment <= EIGHTBYTE);
}

static enum value_class class_of_whole(Dwarf_Die *type, const struct walk *walk)
{
    const enum value_class *of = walk->classes.of;
    bool is_number = dwarf_tag(type) == DW_TAG_base_type;
    if (walk->is_undecided || (walk->is_incomplete && walk->classes.size <= IN_REGISTERS))
        return CLASS_UNKNOWN;
    if (!walk->has_fields)
        return class_of_empty(type, walk);
    if (walk->classes.size > IN_REGISTERS && !(is_number && of[0] == CLASS_X87))
        return CLASS_MEMORY;
    if (walk->is_unaligned || of[0] == CLASS_MEMORY || of[1] == CLASS_MEMORY)
        return CLASS_MEMORY;
    if (of[1] == CLASS_X87 && of[0] != CLASS_X87)
        return CLASS_MEMORY;
    /* gcc passes a structure with a quad in a register, and clang in memory. */
    if (walk->has_quad && !is_number)
        return CLASS_UNKNOWN;
    if (has_doubtful_padding(walk) || (of[0] == CLASS_X87 && of[1] != CLASS_X87) ||
        of[0] == CLASS_SSE_UP)
        return CLASS_UNKNOWN;
    return of[0];
}

struct value_classes value_classes_of(Dwarf_Die *type)
{
    struct walk walk = {.classes.alignment = 1};
    walk.is_incomplete = !size_of(type, &walk.classes.size);
    walk_type(type, 0, 0, &walk);
    walk.classes.of[0] = class_of_whole(type, &walk);
    if (walk.classes.of[1] == CLASS_SSE_UP && walk.classes.of[0] != CLASS_SSE)
        walk.classes.of[1] = CLASS_SSE;
    if (walk.is_unaligned)
        walk.classes.alignment = 1;
    return walk.classes;
}
