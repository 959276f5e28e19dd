#include "symbol/dwarf/signatures.h"

#include "base/memory.h"
#include "symbol/dwarf/go_convention.h"
#include "symbol/dwarf/value_classes.h"
#include "symbol/dwarf/value_types.h"
#include "symbol/object.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum {
    LARGEST_VALUE = 256,   /* bytes; also of what a reference refers to */
    ARGUMENTS_MAX = 24,    /* of one function */
    GENERAL_REGISTERS = 6, /* of arguments */
    VECTOR_REGISTERS = 8,  /* likewise */
};

struct signatures {
    struct arena memory;
    struct image_file file;
    struct object *object;
    struct source_lines lines;
    struct inlined_units units;
};

struct signatures *signatures_open(const char *path)
{
    struct signatures *signatures = memory_allocate_zeroed(sizeof *signatures);
    signatures->file = (struct image_file){.path = path, .local_path = path};
    struct error unheard;
    if (image_file_open(&signatures->file, &signatures->memory, &unheard) && signatures->file.elf)
        signatures->object = object_open(&signatures->file);
    if (signatures->object && signatures->object->module)
        source_lines_open(&signatures->lines, signatures->object->module, signatures->object->bias);
    if (signatures->lines.debug)
        return signatures;
    signatures_close(signatures);
    return NULL;
}

void signatures_close(struct signatures *signatures)
{
    if (!signatures)
        return;
    inlined_units_free(&signatures->units);
    source_lines_close(&signatures->lines);
    if (signatures->object)
        object_close(signatures->object);
    image_file_close(&signatures->file);
    arena_free(&signatures->memory);
    free(signatures);
}

/* ---- the next free registers ---- */

struct allocation {
    unsigned general, vector; /* used so far */
    uint32_t stack;           /* bytes used */
    bool is_lost; /* where the next ones are is not known, as the class of one before them is not */
};

static const uint8_t general_registers[GENERAL_REGISTERS] = {7, 6, 2, 1,
                                                             8, 9}; /* rdi, rsi, rdx, rcx, r8, r9 */

static void add_place(struct signature_value *value, struct value_place place)
{
    if (value->place_count < VALUE_PLACES_MAX)
        value->places[value->place_count++] = place;
}

static void place_on_stack(struct signature_value *value, struct allocation *allocation,
                           uint64_t size, uint64_t alignment)
{
    if (size > UINT16_MAX || alignment > UINT16_MAX) {
        allocation->is_lost = true;
        return;
    }
    if (alignment > EIGHTBYTE)
        allocation->stack = (uint32_t)((allocation->stack + alignment - 1) / alignment * alignment);
    add_place(value, (struct value_place){.kind = PLACE_STACK,
                                          .size = (uint32_t)size,
                                          .offset = (int32_t)allocation->stack});
    allocation->stack += (uint32_t)(size + EIGHTBYTE - 1) / EIGHTBYTE * EIGHTBYTE;
}

static void place_pointer(struct signature_value *value, struct allocation *allocation)
{
    if (allocation->general < GENERAL_REGISTERS)
        add_place(value, (struct value_place){.kind = PLACE_REGISTER,
                                              .number = general_registers[allocation->general++],
                                              .size = EIGHTBYTE});
    else
        place_on_stack(value, allocation, EIGHTBYTE, EIGHTBYTE);
}

static bool is_in_memory(const struct value_classes *classes)
{
    return classes->of[0] == CLASS_MEMORY || classes->of[0] == CLASS_X87;
}

static unsigned count_class(const struct value_classes *classes, enum value_class class)
{
    return (classes->of[0] == class) + (classes->of[1] == class);
}

/* In the next of the general registers `general`, and of the vector registers. */
static void place_in_registers(struct signature_value *value, struct allocation *allocation,
                               const uint8_t *general, const struct value_classes *classes)
{
    bool has_none = classes->of[0] == CLASS_NONE && classes->of[1] == CLASS_NONE;
    for (uint32_t i = 0; i < EIGHTBYTES_MAX && i * EIGHTBYTE < classes->size && !has_none; i++) {
        uint32_t left = (uint32_t)classes->size - i * EIGHTBYTE;
        struct value_place place = {.kind = PLACE_REGISTER,
                                    .size = left < EIGHTBYTE ? left : EIGHTBYTE};
        if (classes->of[i] == CLASS_SSE_UP) {
            value->places[value->place_count - 1].size += place.size;
            continue;
        }
        if (classes->of[i] == CLASS_SSE) {
            place.kind = PLACE_VECTOR;
            place.number = (uint8_t)allocation->vector++;
        } else if (classes->of[i] == CLASS_INTEGER) {
            place.number = general[allocation->general++];
        } /* else it is padding, which is not shown: any register will do */
        add_place(value, place);
    }
}

/* clang aligns a 128-bit integer on the stack to eight bytes, and puts half of it into the last register; gcc does neither. */
static bool is_disputed(const struct allocation *allocation, const struct value_classes *classes)
{
    return classes->is_int128 && allocation->general + 2 > GENERAL_REGISTERS &&
           (allocation->general < GENERAL_REGISTERS || allocation->stack % classes->alignment);
}

static void place_by_convention(struct signature_value *value, struct allocation *allocation,
                                const struct value_classes *classes)
{
    unsigned general = count_class(classes, CLASS_INTEGER);
    unsigned vector = count_class(classes, CLASS_SSE);
    if (classes->of[0] == CLASS_UNKNOWN || is_disputed(allocation, classes))
        allocation->is_lost = true;
    else if (is_in_memory(classes) || allocation->general + general > GENERAL_REGISTERS ||
             allocation->vector + vector > VECTOR_REGISTERS)
        place_on_stack(value, allocation, classes->size, classes->alignment);
    else
        place_in_registers(value, allocation, general_registers, classes);
}

/* ---- what debug information says of the first instruction ---- */

/* Of the DWARF number of a general register the processor's. */
static const uint8_t processor_numbers[] = {0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15};

enum { DWARF_XMM0 = 17, DWARF_XMM15 = 32 };

static bool is_of_arguments(const struct value_place *place)
{
    if (place->kind == PLACE_VECTOR)
        return place->number < VECTOR_REGISTERS;
    return memchr(general_registers, place->number, GENERAL_REGISTERS) != NULL;
}

/* False: the operation names no register. */
static bool register_of(const Dwarf_Op *operation, struct value_place *place)
{
    uint64_t number;
    if (operation->atom >= DW_OP_reg0 && operation->atom <= DW_OP_reg31)
        number = operation->atom - DW_OP_reg0;
    else if (operation->atom == DW_OP_regx)
        number = operation->number;
    else
        return false;
    if (number < sizeof processor_numbers)
        *place = (struct value_place){.kind = PLACE_REGISTER, .number = processor_numbers[number]};
    else if (number >= DWARF_XMM0 && number <= DWARF_XMM15)
        *place =
            (struct value_place){.kind = PLACE_VECTOR, .number = (uint8_t)(number - DWARF_XMM0)};
    else
        return false;
    return true;
}

/* Registers that hold all of the value, eight bytes each but the last. False: it says something else. */
static bool read_registers(const Dwarf_Op *operations, size_t count, uint32_t size,
                           struct signature_value *value)
{
    uint32_t covered = 0;
    for (size_t i = 0; i < count && value->place_count < VALUE_PLACES_MAX; i++) {
        struct value_place place;
        if (!register_of(&operations[i], &place))
            return false;
        place.size = size - covered;
        if (i + 1 < count && operations[i + 1].atom == DW_OP_piece)
            place.size = (uint32_t)operations[++i].number;
        if (covered % EIGHTBYTE || covered + place.size > size)
            return false;
        covered += place.size;
        add_place(value, place);
    }
    bool one_is_enough = value->place_count == 1 && value->places[0].kind == PLACE_VECTOR;
    return covered == size && (one_is_enough || covered <= value->place_count * EIGHTBYTE);
}

enum location {
    LOCATION_NONE, /* it is nowhere in the function, which does not use it */
    LOCATION_REGISTERS,
    LOCATION_FRAME,    /* where it is stored later */
    LOCATION_ELSEWHERE /* it is not passed, or not as a whole */
};

static enum location read_location(Dwarf_Die *parameter, Dwarf_Addr start, uint32_t size,
                                   struct signature_value *value)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *operations;
    size_t count;
    if (!dwarf_attr(parameter, DW_AT_location, &attribute))
        return LOCATION_NONE;
    if (dwarf_getlocation_addr(&attribute, start, &operations, &count, 1) != 1 || count == 0)
        return LOCATION_ELSEWHERE;
    if (read_registers(operations, count, size, value))
        return LOCATION_REGISTERS;
    value->place_count = 0;
    bool in_frame = operations[0].atom == DW_OP_fbreg ||
                    (operations[0].atom >= DW_OP_breg0 && operations[0].atom <= DW_OP_breg31);
    return in_frame ? LOCATION_FRAME : LOCATION_ELSEWHERE;
}

/* ---- functions ---- */

struct function_entry {
    Dwarf_Die entry;
    Dwarf_Addr start; /* in DWARF */
    bool is_go, is_rust;
    bool go_registers; /* Go passes values in registers */
    bool is_by_clang; /* whose callers leave anything where an argument would be that is not used */
    bool is_local;    /* compilers may choose what it is passed, as its callers are all known */
    bool
        is_changed; /* a compiler's variant of a function, which may lack parameters: name.constprop.0 */
};

static bool is_by_clang(Dwarf_Die *unit)
{
    Dwarf_Attribute attribute;
    const char *producer = dwarf_formstring(dwarf_attr(unit, DW_AT_producer, &attribute));
    return producer && strstr(producer, "clang");
}

static bool find_function(struct signatures *signatures, uint64_t address,
                          struct function_entry *function)
{
    Dwarf_Die unit;
    if (!inlined_units_function(&signatures->units, &signatures->lines, address,
                                &function->entry) ||
        !dwarf_diecu(&function->entry, &unit, NULL, NULL))
        return false;
    function->start = address + signatures->lines.bias;
    int language = dwarf_srclang(&unit);
    function->is_go = language == DW_LANG_Go;
    function->go_registers = function->is_go && go_passes_registers(&unit);
    function->is_rust = language == DW_LANG_Rust;
    function->is_by_clang = is_by_clang(&unit);
    Dwarf_Attribute attribute;
    function->is_local =
        function->is_rust || !dwarf_attr_integrate(&function->entry, DW_AT_external, &attribute);
    return true;
}

static const char *parameter_name(Dwarf_Die *parameter, struct arena *memory)
{
    Dwarf_Attribute attribute;
    const char *name = dwarf_formstring(dwarf_attr_integrate(parameter, DW_AT_name, &attribute));
    return name && *name ? arena_copy_string(memory, name) : NULL;
}

static bool is_reference(Dwarf_Die *type)
{
    int tag = dwarf_tag(type);
    return tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

/* A class that is not copied bit by bit is passed, and returned, by its address. */
static bool is_by_reference(Dwarf_Die *entry)
{
    uint64_t convention = 0;
    value_type_number(entry, DW_AT_calling_convention, &convention);
    return convention == DW_CC_pass_by_reference;
}

/* Larger values of Rust are passed by their address. */
static bool passes_address(const struct function_entry *function, Dwarf_Die *entry,
                           const struct value_classes *classes)
{
    return is_by_reference(entry) ||
           (function->is_rust && classes->size > EIGHTBYTES_MAX * EIGHTBYTE);
}

/* Whether debug information says that the value is where an argument register, or a slot of the frame, points to. */
static bool is_pointed_to(Dwarf_Die *parameter, Dwarf_Addr start)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *operations;
    size_t count;
    if (!dwarf_attr(parameter, DW_AT_location, &attribute) ||
        dwarf_getlocation_addr(&attribute, start, &operations, &count, 1) != 1 || count == 0)
        return false;
    if (operations[0].atom == DW_OP_fbreg)
        return count == 2 && operations[1].atom == DW_OP_deref;
    uint64_t number = (uint64_t)operations[0].atom - DW_OP_breg0;
    struct value_place place = {.kind = PLACE_REGISTER};
    if (count != 1 || number >= sizeof processor_numbers || operations[0].number != 0)
        return false;
    place.number = processor_numbers[number];
    return is_of_arguments(&place);
}

/* Of a reference, what it refers to is shown. */
static void look_through_reference(Dwarf_Die *entry, struct arena *memory,
                                   struct signature_value *value)
{
    Dwarf_Die to;
    if (!is_reference(entry) || !value_type_entry(entry, &to))
        return;
    const struct value_type *type = value_type_read(&to, LARGEST_VALUE, memory);
    if (!type || type->kind == VALUE_STRING)
        return;
    value->value.type = type;
    value->value.in_memory = true;
}

static bool is_one_number(const struct value_type *type)
{
    return type->kind != VALUE_STRUCT && type->kind != VALUE_COUNTED_STRING &&
           type->kind != VALUE_ARRAY && type->kind != VALUE_BYTES;
}

/* Rust passes small structures by a convention of its own, which is that of the ABI for two words. */
static bool is_of_rust(const struct signature_value *placed, const struct value_type *type,
                       bool by_address)
{
    return by_address || is_one_number(type) ||
           (type->size == 2 * EIGHTBYTE && placed->place_count == 2);
}

/* `type` is NULL where it cannot be shown. */
static void place_argument(const struct function_entry *function, Dwarf_Die *parameter,
                           Dwarf_Die *entry, struct value_type *type, struct allocation *allocation,
                           struct signature_value *value)
{
    struct signature_value by_convention = {.place_count = 0};
    struct value_classes classes = value_classes_of(entry);
    bool by_address =
        passes_address(function, entry, &classes) || is_pointed_to(parameter, function->start);
    if (by_address)
        place_pointer(&by_convention, allocation);
    else
        place_by_convention(&by_convention, allocation, &classes);
    if (!type)
        return;
    uint32_t size = by_address ? EIGHTBYTE : type->size;
    enum location location = read_location(parameter, function->start, size, value);
    if (location == LOCATION_REGISTERS && is_of_arguments(&value->places[0]))
        return;
    value->place_count = 0;
    bool is_passed = location != LOCATION_NONE || !function->is_by_clang;
    bool follows_convention = is_passed && !allocation->is_lost && !function->is_changed &&
                              (location == LOCATION_FRAME || !function->is_local) &&
                              (!function->is_rust || is_of_rust(&by_convention, type, by_address));
    if (!follows_convention) {
        value->value.type = NULL;
        return;
    }
    memcpy(value->places, by_convention.places, sizeof value->places);
    value->place_count = by_convention.place_count;
    value->value.in_memory = by_address;
}

static void read_argument(const struct function_entry *function, Dwarf_Die *parameter,
                          struct allocation *allocation, struct arena *memory,
                          struct signature_value *value)
{
    Dwarf_Die entry;
    *value = (struct signature_value){.value.name = parameter_name(parameter, memory)};
    if (!value_type_entry(parameter, &entry)) {
        allocation->is_lost = true;
        return;
    }
    struct value_type *type = value_type_read(&entry, LARGEST_VALUE, memory);
    value->value.type = type;
    place_argument(function, parameter, &entry, type, allocation, value);
    if (value->value.type && !value->value.in_memory)
        look_through_reference(&entry, memory, value);
}

static void read_result(const struct function_entry *function, struct allocation *allocation,
                        struct arena *memory, struct signature *signature)
{
    static const uint8_t general[EIGHTBYTES_MAX] = {0, 2}; /* rax, rdx */
    Dwarf_Die entry, subprogram = function->entry;
    if (!value_type_entry(&subprogram, &entry))
        return;
    struct signature_value *value = &signature->result;
    struct value_classes classes = value_classes_of(&entry);
    struct value_type *type = value_type_read(&entry, LARGEST_VALUE, memory);
    struct allocation used = {0};
    value->value.type = type;
    if (passes_address(function, &entry, &classes) || classes.of[0] == CLASS_MEMORY) {
        allocation->general++;
        value->value.in_memory = true;
        add_place(value, (struct value_place){.kind = PLACE_REGISTER, .size = EIGHTBYTE});
    } else if (classes.of[0] == CLASS_UNKNOWN) {
        /* Perhaps in memory, whose address takes a register. */
        allocation->is_lost = true;
    } else if (classes.of[0] != CLASS_X87) { /* whose registers are not recorded */
        place_in_registers(value, &used, general, &classes);
    }
    signature->has_result =
        type && value->place_count > 0 && (!function->is_rust || is_one_number(type));
    if (signature->has_result && !value->value.in_memory)
        look_through_reference(&entry, memory, value);
}

/* ---- Go ---- */

static bool is_result_of_go(Dwarf_Die *parameter)
{
    Dwarf_Attribute attribute;
    bool is = false;
    return dwarf_attr_integrate(parameter, DW_AT_variable_parameter, &attribute) &&
           dwarf_formflag(&attribute, &is) == 0 && is;
}

/* Results without a name are called ~r0, ~r1 ... (~r2 in a method). */
static const char *go_name(Dwarf_Die *parameter, struct arena *memory)
{
    const char *name = parameter_name(parameter, memory);
    return name && *name == '~' ? NULL : name;
}

/* NULL: it is not known. A value without bytes takes no place. */
static const struct value_type *go_type(Dwarf_Die *parameter, struct arena *memory, bool *is_empty)
{
    Dwarf_Die entry;
    uint64_t size;
    *is_empty = false;
    if (!value_type_entry(parameter, &entry))
        return NULL;
    *is_empty = value_type_number(&entry, DW_AT_byte_size, &size) && size == 0;
    return *is_empty ? NULL : value_type_read(&entry, UINT16_MAX, memory);
}

static void read_go_value(struct go_allocation *allocation, Dwarf_Die *parameter,
                          struct arena *memory, struct signature_value *value)
{
    bool is_empty;
    const struct value_type *type = go_type(parameter, memory, &is_empty);
    *value = (struct signature_value){.value.name = go_name(parameter, memory)};
    if (!is_empty)
        go_place(allocation, type, memory, value);
    if (type && type->size > LARGEST_VALUE)
        value->value.type = NULL;
}

/* Appends the parameters that are results, or those that are not. */
static size_t read_go_values(const struct function_entry *function,
                             struct go_allocation *allocation, bool results, struct arena *memory,
                             struct signature_value *values)
{
    Dwarf_Die subprogram = function->entry, parameter;
    size_t count = 0;
    if (dwarf_child(&subprogram, &parameter) != 0)
        return 0;
    do
        if (dwarf_tag(&parameter) == DW_TAG_formal_parameter &&
            is_result_of_go(&parameter) == results)
            read_go_value(allocation, &parameter, memory, &values[count++]);
    while (count < ARGUMENTS_MAX && dwarf_siblingof(&parameter, &parameter) == 0);
    return count;
}

static void read_go_signature(const struct function_entry *function, struct arena *memory,
                              struct signature *signature)
{
    struct go_allocation allocation = {.by_registers = function->go_registers};
    struct signature_value results[ARGUMENTS_MAX];
    signature->argument_count =
        read_go_values(function, &allocation, false, memory, signature->arguments);
    go_begin_results(&allocation);
    size_t count = read_go_values(function, &allocation, true, memory, results);
    if (count == 1) {
        signature->result = results[0];
        signature->has_result = results[0].value.type != NULL;
    } else if (count > 1) {
        signature->has_result = go_join_results(results, count, memory, &signature->result);
    }
    /* When the call has returned, the return address is no longer on the stack. */
    struct value_place *place = &signature->result.places[0];
    if (place->kind == PLACE_STACK)
        place->offset -= EIGHTBYTE;
}

/* ---- the whole ---- */

bool signatures_find(struct signatures *signatures, uint64_t address, const char *symbol,
                     struct arena *memory, struct signature *signature)
{
    struct function_entry function = {.is_go = false};
    struct allocation allocation = {0};
    Dwarf_Die parameter;
    *signature = (struct signature){0};
    if (!find_function(signatures, address, &function))
        return false;
    function.is_changed = strchr(symbol, '.') != NULL;
    signature->arguments = arena_allocate(memory, ARGUMENTS_MAX * sizeof *signature->arguments);
    if (function.is_go) {
        read_go_signature(&function, memory, signature);
        return true;
    }
    read_result(&function, &allocation, memory, signature);
    if (dwarf_child(&function.entry, &parameter) != 0)
        return true;
    do
        if (dwarf_tag(&parameter) == DW_TAG_formal_parameter)
            read_argument(&function, &parameter, &allocation, memory,
                          &signature->arguments[signature->argument_count++]);
    while (signature->argument_count < ARGUMENTS_MAX &&
           dwarf_siblingof(&parameter, &parameter) == 0);
    return true;
}

bool signatures_is_of_file(struct signatures *signatures, uint64_t address, const char *file)
{
    struct function_entry function = {.is_go = false};
    if (!find_function(signatures, address, &function))
        return false;
    const char *path = dwarf_decl_file(&function.entry);
    return path && source_path_is(path, file);
}

/* ---- without debug information ---- */

/* The convention of an object. */
struct convention {
    const uint8_t *registers;
    size_t count; /* 0: it is not known */
};

static struct convention convention_of_object(const struct object *object)
{
    if (object && object->go)
        return (struct convention){go_general_registers, object->go->version >= PCLNTAB_GO_1_18
                                                             ? GO_GENERAL_REGISTERS
                                                             : 0};
    return (struct convention){general_registers, GENERAL_REGISTERS};
}

static struct convention convention_of(const char *path)
{
    struct arena memory = {0};
    struct image_file file = {.path = path, .local_path = path};
    struct error unheard;
    struct object *object = NULL;
    if (image_file_open(&file, &memory, &unheard) && file.elf)
        object = object_open(&file);
    struct convention convention = convention_of_object(object);
    if (object)
        object_close(object);
    image_file_close(&file);
    arena_free(&memory);
    return convention;
}

struct signature signature_of_registers(const char *path, struct arena *memory)
{
    static const char *const names[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp",
                                        "rsi", "rdi", "r8",  "r9",  "r10", "r11"};
    static const struct value_type type = {.kind = VALUE_POINTER, .size = EIGHTBYTE};
    struct convention convention = convention_of(path);
    struct signature signature = {
        .arguments = arena_allocate(memory, (convention.count + 1) * sizeof *signature.arguments),
        .argument_count = convention.count,
        .has_result = convention.count > 0,
        .result = {.value.type = &type, .place_count = 1},
    };
    signature.result.places[0] = (struct value_place){.kind = PLACE_REGISTER, .size = EIGHTBYTE};
    for (size_t i = 0; i < convention.count; i++) {
        uint8_t number = convention.registers[i];
        signature.arguments[i] =
            (struct signature_value){.value = {names[number], &type, false}, .place_count = 1};
        signature.arguments[i].places[0] =
            (struct value_place){.kind = PLACE_REGISTER, .number = number, .size = EIGHTBYTE};
    }
    return signature;
}
