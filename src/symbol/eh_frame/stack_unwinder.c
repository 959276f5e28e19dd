#include "symbol/eh_frame/stack_unwinder.h"

#include "base/memory.h"

#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>

/* Stacks that are saved have 64 KiB, so deeper ones go round in circles. */
enum { FRAMES_MAX = 8192 };

/* libdw requires a thread number; there is one thread, the sampled one. */
enum { THREAD = 1 };

struct stack_unwinder {
    Dwfl *dwfl; /* NULL: not begun yet */
    bool attached;
    /* Of the stack that is being unwound. */
    const struct address_space_cursor *space;
    const struct saved_stack *saved;
    struct array *frames;
    size_t first;     /* of its frames in `frames` */
    bool outdated;    /* libdw knows an object where another one lies now: it has to begin again */
    bool read_beyond; /* the unwinder needed stack memory that was not saved */
    bool no_object;
};

/* ---- what libdw asks for ---- */

/* Debug information apart from the objects is not looked for: rules for unwinding are in the
 * objects, since programs need them themselves. */
static int find_no_debug_file(Dwfl_Module *module, void **user_data, const char *module_name,
                              Dwarf_Addr base, const char *file_name, const char *debug_link,
                              GElf_Word checksum, char **debug_file_name)
{
    return -1;
}

static int find_no_elf(Dwfl_Module *module, void **user_data, const char *module_name,
                       Dwarf_Addr base, char **file_name, Elf **elf)
{
    return -1;
}

static const Dwfl_Callbacks callbacks = {
    .find_elf = find_no_elf,
    .find_debuginfo = find_no_debug_file,
};

static pid_t next_thread(Dwfl *dwfl, void *argument, void **thread_argument)
{
    bool first = *thread_argument == NULL;
    *thread_argument = argument;
    return first ? THREAD : 0;
}

static bool get_thread(Dwfl *dwfl, pid_t thread, void *argument, void **thread_argument)
{
    *thread_argument = argument;
    return thread == THREAD;
}

static bool read_part(const uint8_t *bytes, size_t size, uint64_t offset, Dwarf_Word *result)
{
    if (size < sizeof *result || offset > size - sizeof *result)
        return false;
    memcpy(result, bytes + offset, sizeof *result);
    return true;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *result, void *argument)
{
    struct stack_unwinder *unwinder = argument;
    const struct saved_stack *saved = unwinder->saved;
    uint64_t offset = address - saved->registers[SAVED_RSP];
    if (read_part(saved->bytes, saved->size, offset, result) ||
        read_part(saved->outer_bytes, saved->outer_size, address - saved->outer, result))
        return true;
    unwinder->read_beyond = true;
    return false;
}

static bool set_registers(Dwfl_Thread *thread, void *argument)
{
    const struct stack_unwinder *unwinder = argument;
    Dwarf_Word registers[SAVED_REGISTER_COUNT];
    for (size_t i = 0; i < SAVED_REGISTER_COUNT; i++)
        registers[i] = unwinder->saved->registers[i];
    return dwfl_thread_state_registers(thread, 0, SAVED_REGISTER_COUNT, registers);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
    .next_thread = next_thread,
    .get_thread = get_thread,
    .memory_read = read_memory,
    .set_initial_registers = set_registers,
};

/* ---- objects ---- */

/* The segment that is mapped with the page at `file_offset`. Segments may share a page of the file, which is then mapped for each of
 * them with all that is on it: mappings are of code, so the executable segment wins. NULL: no segment has that page. */
static const struct image_segment *mapped_segment(const struct image_file *file,
                                                  uint64_t file_offset)
{
    enum { PAGE = 4096 };
    const struct image_segment *found = NULL;
    for (uint32_t i = 0; i < file->segment_count; i++) {
        const struct image_segment *segment = &file->segments[i];
        uint64_t page = segment->file_offset - segment->file_offset % PAGE;
        if (file_offset >= page && file_offset < segment->file_offset + segment->file_size &&
            (!found || (segment->executable && !found->executable)))
            found = segment;
    }
    return found;
}

/* What the object's own addresses are moved by in `mapping`; false: it is no object. What was dumped from
 * memory has no rules for unwinding, and begins and ends anywhere in a page, where libdw confuses it with what was
 * dumped next to it. */
static bool find_bias(const struct mapping *mapping, uint64_t *bias)
{
    const struct image_file *file = mapping->file;
    if (!file->local_path || !file->elf || file->jit)
        return false;
    const struct image_segment *segment = mapped_segment(file, mapping->file_offset);
    if (!segment)
        return false;
    *bias = mapping->start - mapping->file_offset - (segment->address - segment->file_offset);
    return true;
}

/* Where objects overlap libdw forgets the one that it knew, from which it may have the kind of machine. */
static void add_module(struct stack_unwinder *unwinder, const struct image_file *file,
                       uint64_t bias)
{
    dwfl_report_begin_add(unwinder->dwfl);
    Dwfl_Module *module =
        dwfl_report_elf(unwinder->dwfl, file->path, file->local_path, -1, bias, true);
    void **user_data = NULL;
    if (module)
        dwfl_module_info(module, &user_data, NULL, NULL, NULL, NULL, NULL, NULL);
    if (user_data)
        *user_data = (void *)file;
    else
        unwinder->outdated = true;
    dwfl_report_end(unwinder->dwfl, NULL, NULL);
}

/* Makes the object at `address` known to libdw. */
static void know_object(struct stack_unwinder *unwinder, const struct mapping *mapping,
                        uint64_t address)
{
    uint64_t bias;
    if (!find_bias(mapping, &bias))
        return;
    Dwfl_Module *module = dwfl_addrmodule(unwinder->dwfl, address);
    if (!module) {
        add_module(unwinder, mapping->file, bias);
        return;
    }
    void **user_data;
    dwfl_module_info(module, &user_data, NULL, NULL, NULL, NULL, NULL, NULL);
    if (*user_data != mapping->file)
        unwinder->outdated = true;
}

/* ---- frames ---- */

/* An object that should be here and is not; what a JIT compiler made never was in one. */
static bool lacks_object(const struct mapping *mapping)
{
    return !mapping->file->local_path && mapping->file->path[0] == '/' &&
           strncmp(mapping->file->path, "//", 2) != 0;
}

/* libdw unwinds a frame as soon as it is asked whether it runs or has called: it has to know the
 * object before. False when the frame is the last. */
static bool prepare_frame(struct stack_unwinder *unwinder, Dwarf_Addr address)
{
    const struct mapping *mapping = address_space_find(unwinder->space, address);
    unwinder->read_beyond = false;
    unwinder->no_object = mapping && lacks_object(mapping);
    if (mapping)
        know_object(unwinder, mapping, address);
    return !unwinder->no_object && !unwinder->outdated &&
           unwinder->frames->count - unwinder->first < FRAMES_MAX;
}

static int take_frame(Dwfl_Frame *state, void *argument)
{
    struct stack_unwinder *unwinder = argument;
    Dwarf_Addr address;
    Dwarf_Word stack_pointer;
    bool innermost = unwinder->frames->count == unwinder->first, runs = innermost;
    if (!dwfl_frame_pc(state, &address, NULL))
        return DWARF_CB_ABORT;
    /* A return address may lie after the last instruction of its function. */
    Dwarf_Addr inside = innermost ? address : address - 1;
    if (!innermost && !address_space_find(unwinder->space, inside))
        return DWARF_CB_ABORT; /* no code: the rules did not fit */
    bool goes_on = prepare_frame(unwinder, inside);
    if (goes_on)
        dwfl_frame_pc(state, &address, &runs);
    struct unwound_frame *frame = array_add(unwinder->frames);
    frame->address = runs ? address : address - 1;
    frame->called = !runs;
    if (dwfl_frame_reg(state, SAVED_RSP, &stack_pointer) == 0)
        frame->stack_pointer = stack_pointer;
    return goes_on ? DWARF_CB_OK : DWARF_CB_ABORT;
}

static void begin(struct stack_unwinder *unwinder)
{
    if (unwinder->dwfl)
        dwfl_end(unwinder->dwfl);
    unwinder->dwfl = dwfl_begin(&callbacks);
    unwinder->attached = false;
}

/* libdw takes the kind of machine from the first object that it knows: any will do. */
static bool attach(struct stack_unwinder *unwinder)
{
    const struct address_space_cursor *space = unwinder->space;
    for (size_t i = 0; !unwinder->attached && i < space->mapping_count; i++) {
        know_object(unwinder, &space->mappings[i], space->mappings[i].start);
        unwinder->attached =
            dwfl_attach_state(unwinder->dwfl, NULL, THREAD, &thread_callbacks, unwinder);
    }
    return unwinder->attached && !unwinder->outdated;
}

static enum unwinding_end unwind_once(struct stack_unwinder *unwinder)
{
    if (!unwinder->dwfl || unwinder->outdated)
        begin(unwinder);
    unwinder->frames->count = unwinder->first;
    unwinder->outdated = unwinder->read_beyond = unwinder->no_object = false;
    uint64_t address = unwinder->saved->registers[SAVED_RIP];
    const struct mapping *mapping = address_space_find(unwinder->space, address);
    if (mapping)
        know_object(unwinder, mapping, address);
    bool reached_end = !unwinder->outdated && attach(unwinder) &&
                       dwfl_getthread_frames(unwinder->dwfl, THREAD, take_frame, unwinder) == 0;
    if (unwinder->no_object)
        return UNWINDING_NO_OBJECT;
    /* libdw takes an unreadable return address for the end of the stack. */
    if (unwinder->read_beyond)
        return UNWINDING_NOT_SAVED;
    return reached_end ? UNWINDING_WHOLE : UNWINDING_NO_RULES;
}

struct stack_unwinder *stack_unwinder_open(void)
{
    return memory_allocate_zeroed(sizeof(struct stack_unwinder));
}

void stack_unwinder_close(struct stack_unwinder *unwinder)
{
    if (!unwinder)
        return;
    if (unwinder->dwfl)
        dwfl_end(unwinder->dwfl);
    free(unwinder);
}

enum unwinding_end stack_unwinder_find(struct stack_unwinder *unwinder,
                                       const struct address_space_cursor *space,
                                       const struct saved_stack *saved, struct array *frames)
{
    unwinder->space = space;
    unwinder->saved = saved;
    unwinder->frames = frames;
    unwinder->first = frames->count;
    enum unwinding_end end = unwind_once(unwinder);
    if (unwinder->outdated)
        end = unwind_once(unwinder);
    if (frames->count == unwinder->first) {
        struct unwound_frame *frame = array_add(frames);
        frame->address = saved->registers[SAVED_RIP];
        frame->stack_pointer = saved->registers[SAVED_RSP];
    }
    return end;
}
