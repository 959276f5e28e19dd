#include "symbol/dwarf/function_entries.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/* What exceeds these is damage: without bounds a small file could ask for any time and memory. */
enum {
    RANGES_MAX = 1 << 22,        /* of the functions of one unit */
    ABBREVIATIONS_MAX = 1 << 16, /* of one unit; compilers number them from 1 on */
    ATTRIBUTES_MAX = 1 << 10,    /* of one entry */
};

/* What an entry with this abbreviation is, and how it is passed over. */
struct abbreviation {
    bool known;
    bool is_function_with_code;
    bool is_sized;       /* all its forms have sizes of their own */
    uint32_t size;       /* of the attributes, if so */
    uint32_t first_form; /* else: in `forms` */
    uint32_t form_count;
};

struct scan {
    const uint8_t *at, *end; /* in the unit */
    uint8_t address_size, offset_size;
    uint16_t version;
    uint32_t ranges;            /* that were read */
    struct array abbreviations; /* struct abbreviation, by code */
    struct array forms;         /* unsigned */
    bool damaged;
};

/* ---- Abbreviations ---- */

/* Whether the form has the same size in every entry of the unit. */
static bool form_size(const struct scan *scan, unsigned form, uint32_t *size)
{
    switch (form) {
    case DW_FORM_implicit_const:
    case DW_FORM_flag_present:
        *size = 0;
        return true;
    case DW_FORM_data1:
    case DW_FORM_ref1:
    case DW_FORM_flag:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
        *size = 1;
        return true;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
        *size = 2;
        return true;
    case DW_FORM_strx3:
    case DW_FORM_addrx3:
        *size = 3;
        return true;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
    case DW_FORM_ref_sup4:
        *size = 4;
        return true;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sig8:
    case DW_FORM_ref_sup8:
        *size = 8;
        return true;
    case DW_FORM_data16:
        *size = 16;
        return true;
    case DW_FORM_addr:
        *size = scan->address_size;
        return true;
    case DW_FORM_ref_addr:
        *size = scan->version <= 2 ? scan->address_size : scan->offset_size;
        return true;
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_strp_sup:
    case DW_FORM_sec_offset:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt:
        *size = scan->offset_size;
        return true;
    default:
        return false;
    }
}

static struct abbreviation read_abbreviation(struct scan *scan, Dwarf_Abbrev *read)
{
    struct abbreviation made = {
        .known = true, .is_sized = true, .first_form = (uint32_t)scan->forms.count};
    bool has_code = false;
    unsigned name, form;
    /* Not dwarf_getattrcnt: that of libdw 0.188 miscounts DW_FORM_implicit_const. */
    while (dwarf_getabbrevattr_data(read, made.form_count, &name, &form, NULL, NULL) == 0) {
        uint32_t size;
        if (made.form_count++ == ATTRIBUTES_MAX)
            return (struct abbreviation){0};
        has_code |= name == DW_AT_low_pc || name == DW_AT_ranges;
        if (form_size(scan, form, &size))
            made.size += size;
        else
            made.is_sized = false;
        *(unsigned *)array_add(&scan->forms) = form;
    }
    made.is_function_with_code = has_code && dwarf_getabbrevtag(read) == DW_TAG_subprogram;
    if (made.is_sized)
        scan->forms.count = made.first_form;
    return made;
}

static void read_abbreviations(struct scan *scan, Dwarf_Die *unit)
{
    Dwarf_Off offset = 0;
    size_t length = 0;
    for (Dwarf_Abbrev *read; (read = dwarf_getabbrev(unit, offset, &length)) != NULL &&
                             read != DWARF_END_ABBREV && length > 0;
         offset += length) {
        unsigned code = dwarf_getabbrevcode(read);
        if (code >= ABBREVIATIONS_MAX)
            continue;
        while (scan->abbreviations.count <= code)
            array_add(&scan->abbreviations);
        *(struct abbreviation *)array_at(&scan->abbreviations, code) =
            read_abbreviation(scan, read);
    }
}

/* ---- Entries ---- */

static uint64_t take_number(struct scan *scan)
{
    uint64_t number = 0;
    unsigned shift = 0;
    while (scan->at < scan->end) {
        uint8_t byte = *scan->at++;
        if (shift < 64)
            number |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
        if (!(byte & 0x80))
            return number;
    }
    scan->damaged = true;
    return 0;
}

static void pass(struct scan *scan, uint64_t size)
{
    if (size > (uint64_t)(scan->end - scan->at))
        scan->damaged = true;
    else
        scan->at += size;
}

static uint64_t take_fixed(struct scan *scan, unsigned size)
{
    uint64_t number = 0;
    const uint8_t *from = scan->at;
    pass(scan, size);
    if (!scan->damaged)
        memcpy(&number, from, size);
    return number;
}

static void pass_string(struct scan *scan)
{
    const uint8_t *end = memchr(scan->at, 0, (size_t)(scan->end - scan->at));
    if (end)
        scan->at = end + 1;
    else
        scan->damaged = true;
}

static void pass_form(struct scan *scan, unsigned form)
{
    uint32_t size;
    for (; form == DW_FORM_indirect && !scan->damaged; form = (unsigned)take_number(scan))
        ;
    if (form_size(scan, form, &size)) {
        pass(scan, size);
        return;
    }
    switch (form) {
    case DW_FORM_sdata:
    case DW_FORM_udata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
    case DW_FORM_GNU_addr_index:
    case DW_FORM_GNU_str_index:
        take_number(scan);
        break;
    case DW_FORM_string:
        pass_string(scan);
        break;
    case DW_FORM_block1:
        pass(scan, take_fixed(scan, 1));
        break;
    case DW_FORM_block2:
        pass(scan, take_fixed(scan, 2));
        break;
    case DW_FORM_block4:
        pass(scan, take_fixed(scan, 4));
        break;
    case DW_FORM_block:
    case DW_FORM_exprloc:
        pass(scan, take_number(scan));
        break;
    default:
        scan->damaged = true;
    }
}

static void pass_attributes(struct scan *scan, const struct abbreviation *abbreviation)
{
    if (abbreviation->is_sized) {
        pass(scan, abbreviation->size);
        return;
    }
    const unsigned *forms = array_at(&scan->forms, abbreviation->first_form);
    for (uint32_t i = 0; i < abbreviation->form_count && !scan->damaged; i++)
        pass_form(scan, forms[i]);
}

static void add_function(struct scan *scan, Dwarf *debug, Dwarf_Off offset, struct array *functions)
{
    Dwarf_Die entry;
    Dwarf_Addr base, start, end;
    if (!dwarf_offdie(debug, offset, &entry))
        return;
    for (ptrdiff_t next = 0; (next = dwarf_ranges(&entry, next, &base, &start, &end)) > 0;) {
        if (scan->ranges++ >= RANGES_MAX) {
            scan->damaged = true;
            return;
        }
        if (start < end)
            *(struct function_entry *)array_add(functions) =
                (struct function_entry){.start = start, .end = end, .offset = offset};
    }
}

/* Entries of all depths: functions are also inside of namespaces, types, and other functions. What
 * ends a list of children is an entry with code 0. */
static void pass_entries(struct scan *scan, Dwarf *debug, const uint8_t *section,
                         struct array *functions)
{
    while (scan->at < scan->end && !scan->damaged) {
        Dwarf_Off offset = (Dwarf_Off)(scan->at - section);
        uint64_t code = take_number(scan);
        if (code == 0)
            continue;
        const struct abbreviation *abbreviation =
            code < scan->abbreviations.count ? array_at(&scan->abbreviations, code) : NULL;
        if (!abbreviation || !abbreviation->known) {
            scan->damaged = true;
            return;
        }
        pass_attributes(scan, abbreviation);
        if (abbreviation->is_function_with_code && !scan->damaged)
            add_function(scan, debug, offset, functions);
    }
}

static int by_start(const void *left, const void *right)
{
    const struct function_entry *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

static void order(struct array *functions)
{
    uint64_t reach = 0;
    if (functions->count > 1)
        qsort(functions->elements, functions->count, sizeof(struct function_entry), by_start);
    for (size_t i = 0; i < functions->count; i++) {
        struct function_entry *function = array_at(functions, i);
        if (reach < function->end)
            reach = function->end;
        function->reach = reach;
    }
}

size_t function_entries_find(const struct array *functions, uint64_t address)
{
    size_t low = 0, high = functions->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct function_entry *function = array_at(functions, middle);
        if (function->reach <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* How many bytes the section has from `at` on: libdw does not say. */
static size_t bytes_of_section(Dwarf *debug, const uint8_t *at)
{
    Elf *elf = dwarf_getelf(debug);
    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn)) != NULL;) {
        const Elf_Data *data = elf_getdata(scn, NULL);
        const uint8_t *start = data ? data->d_buf : NULL;
        if (start && at >= start && (size_t)(at - start) < data->d_size)
            return data->d_size - (size_t)(at - start);
    }
    return 0;
}

bool function_entries_list(Dwarf *debug, Dwarf_Die *unit, struct array *functions)
{
    Dwarf_Off offset = dwarf_dieoffset(unit), header = offset - dwarf_cuoffset(unit), next;
    struct scan scan = {
        .at = unit->addr,
        .abbreviations = array_of(sizeof(struct abbreviation)),
        .forms = array_of(sizeof(unsigned)),
    };
    if (dwarf_next_unit(debug, header, &next, NULL, &scan.version, NULL, &scan.address_size,
                        &scan.offset_size, NULL, NULL) != 0 ||
        next <= offset)
        return false;
    size_t there = bytes_of_section(debug, scan.at);
    bool ends_early = there < next - offset;
    scan.end = scan.at + (ends_early ? there : next - offset);
    read_abbreviations(&scan, unit);
    pass_entries(&scan, debug, scan.at - offset, functions);
    order(functions);
    array_free(&scan.abbreviations);
    array_free(&scan.forms);
    return !scan.damaged && !ends_early;
}
