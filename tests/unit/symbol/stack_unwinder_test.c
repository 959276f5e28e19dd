/* Unwinding of a saved stack: this process calls a library that saves its own registers and stack
 * as the kernel does for a sample; afterwards the unwinder finds the callers. */
#include "symbol/eh_frame/stack_unwinder.h"

#include "base/arena.h"
#include "symbol_fixture.h"

#include <dlfcn.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SAVED_SIZE = 16384, REGISTERS = SAVED_REGISTER_COUNT, DEPTH = 3 };

struct unwound_moment {
    uint64_t registers[REGISTERS];
    uint8_t bytes[SAVED_SIZE];
    const uint8_t *top;
};

/* Where the stack was when the program began (glibc's ld.so). */
extern void *__libc_stack_end;

/* What is saved must reach up to main, so nothing large may lie on the stack. */
static struct unwound_moment moment;

struct world {
    char *folder;
    char library[512];
    void *handle;
    struct saved_stack saved;
    struct symbol_fixture fixture;
    struct recording recording;
    struct array frames;
    struct arena paths; /* of the recording */
};

/* What is mapped of this process and may be executed, of files whose path has `only` in it; those whose path has `without` in it
 * are said to be elsewhere. */
static void add_own_mappings(struct world *world, const char *without, const char *only)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    assert_non_null(maps);
    char line[1024];
    while (fgets(line, sizeof line, maps)) {
        unsigned long start, end, offset;
        char permissions[8], path[512] = "";
        if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %511[^\n]", &start, &end, permissions, &offset,
                   path) < 5 ||
            permissions[2] != 'x' || path[0] != '/' || !strstr(path, only))
            continue;
        if (without && strstr(path, without))
            strcpy(path, "/nonexistent/gone.so");
        add_mapping(&world->recording, 1, FIXTURE_PID, start, end, offset,
                    arena_copy_string(&world->paths, path));
    }
    fclose(maps);
}

static void build(const char *path, const char *flags)
{
    run_command("cc -shared -fPIC -O1 -g0 %s -o %s " SOURCES "/unwound_program.c", flags, path);
}

static void call_library(struct world *world)
{
    void (*outermost)(struct unwound_moment *, int);
    world->handle = dlopen(world->library, RTLD_NOW);
    if (!world->handle)
        fail_msg("%s", dlerror());
    *(void **)&outermost = dlsym(world->handle, "outermost");
    assert_non_null(outermost);
    moment.top = (const uint8_t *)__libc_stack_end + sizeof(void *);
    outermost(&moment, DEPTH);
}

static void open_world_of(struct world *world, const char *flags, const char *without,
                          const char *only)
{
    *world = (struct world){.folder = make_test_folder(), .recording = recording_new()};
    snprintf(world->library, sizeof world->library, "%s/libunwound.so", world->folder);
    build(world->library, flags);
    call_library(world);
    add_own_mappings(world, without, only);
    symbol_fixture_open_recording(&world->fixture, &world->recording, NULL, NULL);
    memcpy(world->saved.registers, moment.registers, sizeof world->saved.registers);
    world->saved.bytes = moment.bytes;
    world->saved.size = SAVED_SIZE;
    world->frames = array_of(sizeof(struct unwound_frame));
}

static void open_world(struct world *world, const char *flags, const char *without)
{
    open_world_of(world, flags, without, "/");
}

static void close_world(struct world *world)
{
    array_free(&world->frames);
    symbol_fixture_close(&world->fixture);
    recording_free(&world->recording);
    arena_free(&world->paths);
    dlclose(world->handle);
    remove_test_folder(world->folder);
}

static enum unwinding_end unwind(struct world *world)
{
    struct stack_unwinder *unwinder = stack_unwinder_open();
    enum unwinding_end end =
        stack_unwinder_find(unwinder, &world->fixture.cursor, &world->saved, &world->frames);
    /* Once more, with what is known from before. */
    size_t count = world->frames.count;
    assert_int_equal(
        stack_unwinder_find(unwinder, &world->fixture.cursor, &world->saved, &world->frames), end);
    assert_int_equal(world->frames.count, 2 * count);
    world->frames.count = count;
    stack_unwinder_close(unwinder);
    return end;
}

static const struct unwound_frame *frame_at(const struct world *world, size_t index)
{
    assert_true(index < world->frames.count);
    return array_at(&world->frames, index);
}

static const char *name_at(const struct world *world, size_t index)
{
    uint64_t address = frame_at(world, index)->address;
    const struct mapping *mapping = address_space_find(&world->fixture.cursor, address);
    function_id id = symbols_find(world->fixture.symbols, mapping, address).function;
    return symbols_function(world->fixture.symbols, id)->name;
}

static void assert_library_frames(const struct world *world)
{
    assert_string_equal(name_at(world, 0), "innermost");
    for (size_t i = 1; i <= DEPTH + 1; i++)
        assert_string_equal(name_at(world, i), "middle");
    assert_string_equal(name_at(world, DEPTH + 2), "outermost");
}

static bool has_function(const struct world *world, const char *name)
{
    for (size_t i = 0; i < world->frames.count; i++)
        if (strcmp(name_at(world, i), name) == 0)
            return true;
    return false;
}

static void callers_are_found_without_frame_pointers(void **state)
{
    struct world world;
    open_world(&world, "-fomit-frame-pointer", NULL);
    enum unwinding_end end = unwind(&world);
    assert_library_frames(&world);
    assert_true(has_function(&world, "main"));
    assert_true(end == UNWINDING_WHOLE);
    assert_string_equal(name_at(&world, world.frames.count - 1), "_start");
    for (size_t i = 1; i < world.frames.count; i++)
        assert_true(frame_at(&world, i)->stack_pointer > frame_at(&world, i - 1)->stack_pointer);
    assert_int_equal(frame_at(&world, 0)->stack_pointer, world.saved.registers[SAVED_RSP]);
    close_world(&world);
}

static void what_was_not_saved_ends_the_stack(void **state)
{
    struct world world;
    open_world(&world, "-fomit-frame-pointer", NULL);
    world.saved.size = 300; /* innermost and one of middle */
    assert_int_equal(unwind(&world), UNWINDING_NOT_SAVED);
    assert_string_equal(name_at(&world, 0), "innermost");
    assert_string_equal(name_at(&world, 1), "middle");
    assert_false(has_function(&world, "outermost"));
    world.saved.size = 0;
    world.frames.count = 0;
    assert_int_equal(unwind(&world), UNWINDING_NOT_SAVED);
    assert_int_equal(world.frames.count, 1);
    close_world(&world);
}

static void an_object_that_is_not_here_is_the_last(void **state)
{
    struct world world;
    open_world(&world, "-fomit-frame-pointer", "stack_unwinder_test");
    assert_int_equal(unwind(&world), UNWINDING_NO_OBJECT);
    assert_library_frames(&world);
    assert_int_equal(world.frames.count, DEPTH + 4);
    assert_string_equal(name_at(&world, DEPTH + 3), "[gone.so]");
    close_world(&world);
}

static void registers_that_lead_nowhere_are_survived(void **state)
{
    struct world world;
    open_world(&world, "-fomit-frame-pointer", NULL);
    for (unsigned i = 0; i < 400; i++) {
        uint64_t kept = world.saved.registers[i % SAVED_REGISTER_COUNT];
        world.saved.registers[i % SAVED_REGISTER_COUNT] = i < 100 ? i
                                                          : i < 200
                                                              ? UINT64_MAX - i
                                                              : kept + i * UINT64_C(0x9e3779b1);
        world.frames.count = 0;
        unwind(&world);
        assert_true(world.frames.count >= 1);
        world.saved.registers[i % SAVED_REGISTER_COUNT] = kept;
    }
    for (size_t i = 0; i < SAVED_SIZE; i += 8)
        memset(moment.bytes + i, (int)(i >> 3), 8);
    world.frames.count = 0;
    unwind(&world);
    close_world(&world);
}

static void nothing_mapped_is_one_frame(void **state)
{
    struct world world;
    open_world(&world, "-fomit-frame-pointer", NULL);
    static const struct process nothing = {0};
    struct address_space_cursor space;
    address_space_cursor_init(&space, &nothing);
    struct stack_unwinder *unwinder = stack_unwinder_open();
    assert_int_equal(stack_unwinder_find(unwinder, &space, &world.saved, &world.frames),
                     UNWINDING_NO_RULES);
    assert_int_equal(world.frames.count, 1);
    assert_int_equal(frame_at(&world, 0)->address, world.saved.registers[SAVED_RIP]);
    stack_unwinder_close(unwinder);
    address_space_cursor_free(&space);
    close_world(&world);
}

static bool has_lld(void)
{
    return system("cc -fuse-ld=lld -Wl,--version >/dev/null 2>&1") == 0;
}

/* lld lets segments share pages of the file; each of them is mapped with the whole page. The library is the only object that is
 * known, and is looked at first by its mapping's beginning, since code of no object runs: its rules have to be found where it lies. */
static void the_first_page_is_shared_with_another_segment(void **state)
{
    struct world world;
    if (!has_lld()) {
        print_message("lld is not installed: its layout is not judged\n");
        skip();
    }
    open_world_of(&world, "-fomit-frame-pointer -fuse-ld=lld", NULL, "libunwound.so");
    static uint64_t words[2 + SAVED_SIZE / sizeof(uint64_t)];
    words[0] = world.saved.registers[SAVED_RBP];
    words[1] = world.saved.registers[SAVED_RIP];
    memcpy(words + 2, moment.bytes, SAVED_SIZE);
    world.saved.registers[SAVED_RSP] -= 2 * sizeof(uint64_t);
    world.saved.registers[SAVED_RBP] = world.saved.registers[SAVED_RSP];
    world.saved.registers[SAVED_RIP] = 4096;
    world.saved.bytes = (const uint8_t *)words;
    world.saved.size = sizeof words;
    unwind(&world);
    assert_string_equal(name_at(&world, 1), "innermost");
    for (size_t i = 2; i <= DEPTH + 2; i++)
        assert_string_equal(name_at(&world, i), "middle");
    assert_string_equal(name_at(&world, DEPTH + 3), "outermost");
    close_world(&world);
}

/* A dump as engine/packets/code_image.h makes them, of a page and the 16 bytes that follow it. */
static void add_dump(struct world *world, unsigned number, uint64_t address)
{
    enum { OFFSET = 4096, PAGE = 4096, TAIL = 16 };
    static uint8_t bytes[OFFSET + PAGE + TAIL];
    Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_DYN,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_phoff = sizeof header,
        .e_ehsize = sizeof header,
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = 1,
        .e_shentsize = sizeof(Elf64_Shdr)};
    Elf64_Phdr segment = {.p_type = PT_LOAD,
                          .p_flags = PF_R | PF_X,
                          .p_offset = OFFSET,
                          .p_vaddr = address,
                          .p_filesz = PAGE + TAIL,
                          .p_memsz = PAGE + TAIL,
                          .p_align = PAGE};
    memcpy(bytes, &header, sizeof header);
    memcpy(bytes + sizeof header, &segment, sizeof segment);
    char path[512];
    snprintf(path, sizeof path, "%s/images/dump.%u", world->folder, number);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, sizeof bytes, 1, file), 1);
    fclose(file);
    add_mapping(&world->recording, 1, FIXTURE_PID, address, address + PAGE, OFFSET,
                arena_copy_string(&world->paths, path));
}

/* Frame pointers lead through the pages, which may be one frame each. */
static void dumps_overlap(void **state)
{
    enum { DUMPS = 8, STACKS = 64, PAGE = 4096 };
    const uint64_t code = UINT64_C(0x7000000000), stack = UINT64_C(0x6000000000);
    uint64_t words[2 * DUMPS];
    struct world world = {.folder = make_test_folder(), .recording = recording_new()};
    run_command("mkdir %s/images", world.folder);
    for (unsigned i = 0; i < DUMPS; i++)
        add_dump(&world, i, code + i * PAGE);
    symbol_fixture_open_recording(&world.fixture, &world.recording, world.folder, NULL);
    world.frames = array_of(sizeof(struct unwound_frame));
    struct stack_unwinder *unwinder = stack_unwinder_open();
    world.saved = (struct saved_stack){.bytes = (const uint8_t *)words, .size = sizeof words};
    world.saved.registers[SAVED_RSP] = world.saved.registers[SAVED_RBP] = stack;
    for (unsigned i = 1; i < STACKS; i++) {
        for (unsigned k = 0; k < DUMPS; k++) {
            words[2 * k] = stack + (k + 1) * 2 * sizeof *words;
            words[2 * k + 1] = code + k * i % DUMPS * PAGE + 100;
        }
        world.saved.registers[SAVED_RIP] = code + i % DUMPS * PAGE + 10;
        world.frames.count = 0;
        stack_unwinder_find(unwinder, &world.fixture.cursor, &world.saved, &world.frames);
        assert_true(world.frames.count >= 1);
    }
    stack_unwinder_close(unwinder);
    array_free(&world.frames);
    symbol_fixture_close(&world.fixture);
    recording_free(&world.recording);
    arena_free(&world.paths);
    remove_test_folder(world.folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callers_are_found_without_frame_pointers),
        cmocka_unit_test(what_was_not_saved_ends_the_stack),
        cmocka_unit_test(an_object_that_is_not_here_is_the_last),
        cmocka_unit_test(registers_that_lead_nowhere_are_survived),
        cmocka_unit_test(nothing_mapped_is_one_frame),
        cmocka_unit_test(the_first_page_is_shared_with_another_segment),
        cmocka_unit_test(dumps_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
