#include "counts/branch_divergence.h"

#include "base/array.h"
#include "base/memory.h"
#include "counts/code_counts.h"

#include <inttypes.h>
#include <string.h>

enum { BLOCK = 4096 /* branches */ };

static const uint64_t NO_BLOCK = UINT64_MAX;

/* Some of the branches of one side. */
struct branch_stream {
    uint64_t count;
    uint64_t hash;       /* of all so far */
    struct array hashes; /* of uint64_t: what `hash` was after each block */
    uint64_t wanted;     /* block whose branches are kept; NO_BLOCK: none */
    struct array kept;   /* of struct parting_branch */
};

struct met_function {
    uint64_t hash; /* of its name; 0: it was not met */
    bool is_of_c_library;
};

/* One side, while it is decoded. */
struct branch_reader {
    const struct branch_part *part;
    struct symbols *symbols;
    uint64_t block_end;     /* where the code ends that ran last */
    struct array open;      /* of uint64_t: return addresses of the calls that have not returned */
    bool inside;            /* the part has begun, ... */
    bool ended;             /* ... and ended */
    size_t depth;           /* open calls around it */
    uint64_t calls_met;     /* of part->call_of */
    struct array functions; /* of struct met_function, by id */
    struct branch_stream streams[BRANCH_CHOICES];
};

/* ---- what is compared ---- */

static struct branch_place place_at(const struct branch_reader *reader,
                                    const struct flow_step *step, uint64_t address)
{
    struct function_bounds bounds = code_space_function(step->space, address);
    return (struct branch_place){
        .function = symbols_function(reader->symbols, bounds.function)->name,
        .offset = address - bounds.start,
    };
}

static struct branch_place place_with_line(const struct branch_reader *reader,
                                           const struct flow_step *step, uint64_t address)
{
    struct branch_place place = place_at(reader, step, address);
    const struct mapping *mapping = code_space_mapping(step->space, address);
    if (mapping)
        place.line = symbols_line_at(reader->symbols, mapping, address);
    return place;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static bool is_of_c_library(const struct function *function)
{
    static const char *const beginnings[] = {"libc.so", "libc-2",  "ld-linux",
                                             "ld-2",    "ld-musl", "[vdso]"};
    const char *slash = function->object ? strrchr(function->object, '/') : NULL;
    const char *name = slash ? slash + 1 : function->object;
    for (size_t i = 0; name && i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

static const struct met_function *meet_function(struct branch_reader *reader, function_id id)
{
    while (reader->functions.count <= id)
        *(struct met_function *)array_add(&reader->functions) = (struct met_function){0};
    struct met_function *met = array_at(&reader->functions, id);
    if (met->hash)
        return met;
    const struct function *function = symbols_function(reader->symbols, id);
    met->hash = 1;
    for (const char *letter = function->name; *letter; letter++)
        met->hash = mix(met->hash, (uint8_t)*letter);
    met->hash |= 1;
    met->is_of_c_library = is_of_c_library(function);
    return met;
}

static bool are_same_places(const struct branch_place *a, const struct branch_place *b)
{
    return a->offset == b->offset && strcmp(a->function, b->function) == 0;
}

bool branch_is_same(const struct parting_branch *a, const struct parting_branch *b)
{
    if (!a->is_there || !b->is_there)
        return a->is_there == b->is_there;
    return a->kind == b->kind && are_same_places(&a->from, &b->from) &&
           are_same_places(&a->to, &b->to);
}

static void keep(const struct branch_reader *reader, struct branch_stream *stream,
                 const struct flow_step *step)
{
    const struct parting_branch branch = {
        .is_there = true,
        .kind = step->kind,
        .from = place_with_line(reader, step, step->from),
        .to = place_with_line(reader, step, step->to),
    };
    array_add_all(&stream->kept, &branch, 1);
}

static void add_to_stream(const struct branch_reader *reader, struct branch_stream *stream,
                          const struct flow_step *step, uint64_t hash)
{
    stream->hash = mix(stream->hash, hash);
    if (stream->count / BLOCK == stream->wanted)
        keep(reader, stream, step);
    if (++stream->count % BLOCK == 0)
        array_add_all(&stream->hashes, &stream->hash, 1);
}

static void take_branch(struct branch_reader *reader, const struct flow_step *step)
{
    if (!step->space)
        return;
    struct function_bounds from = code_space_function(step->space, step->from);
    struct function_bounds to = code_space_function(step->space, step->to);
    uint64_t hash = mix(step->kind, meet_function(reader, to.function)->hash);
    const struct met_function *met = meet_function(reader, from.function);
    hash = mix(mix(hash, met->hash), step->from - from.start);
    hash = mix(hash, step->to - to.start);
    add_to_stream(reader, &reader->streams[BRANCHES_OF_ALL_CODE], step, hash);
    if (!met->is_of_c_library)
        add_to_stream(reader, &reader->streams[BRANCHES_OF_PROGRAM], step, hash);
}

/* ---- where the part begins and ends ---- */

/* Whether control comes to the function's beginning from elsewhere. */
static bool enters_function(const struct branch_reader *reader, const struct flow_step *step)
{
    const struct branch_part *part = reader->part;
    if (!part->call_of || !step->space)
        return false;
    struct function_bounds bounds = code_space_function(step->space, step->to);
    bool from_inside =
        step->kind != STEP_CALL && step->from >= bounds.start && step->from < bounds.end;
    const struct function *function = symbols_function(reader->symbols, bounds.function);
    return bounds.start == step->to && !from_inside &&
           (code_counts_is_called(function, part->call_of) ||
            (part->symbol && code_counts_is_called(function, part->symbol)));
}

/* The calls that return to `address` and all that they have called end. */
static void close_calls(struct branch_reader *reader, uint64_t address)
{
    for (size_t i = reader->open.count; i-- > 0;)
        if (*(uint64_t *)array_at(&reader->open, i) == address) {
            reader->open.count = i;
            return;
        }
}

static void enter_if_wanted(struct branch_reader *reader, const struct flow_step *step)
{
    if (reader->inside || reader->ended || !enters_function(reader, step) ||
        ++reader->calls_met != reader->part->call)
        return;
    reader->inside = true;
    reader->depth = reader->open.count; /* with the call itself */
}

static void take_transfer(struct branch_reader *reader, const struct flow_step *step)
{
    bool was_inside = reader->inside;
    if (step->kind == STEP_CALL)
        array_add_all(&reader->open, &reader->block_end, 1);
    else if (step->kind == STEP_RETURN)
        close_calls(reader, step->to);
    if (was_inside && reader->part->call_of && reader->open.count < reader->depth) {
        reader->inside = false;
        reader->ended = true;
    }
    if (reader->inside)
        take_branch(reader, step);
    if (step->kind == STEP_CALL || step->kind == STEP_JUMP || step->kind == STEP_TAKEN)
        enter_if_wanted(reader, step);
}

static void take_step(struct branch_reader *reader, const struct flow_step *step)
{
    if (!step->thread || step->thread->tid != reader->part->tid ||
        step->thread->pid != reader->part->pid)
        return;
    if (step->kind == STEP_BLOCK)
        reader->block_end = step->to;
    else if (step->kind <= STEP_RETURN)
        take_transfer(reader, step);
}

/* ---- decoding ---- */

struct branch_readers {
    struct branch_reader *readers;
    size_t count;
};

static void take_step_of_all(void *context, const struct flow_step *step)
{
    const struct branch_readers *all = context;
    for (size_t i = 0; i < all->count; i++)
        take_step(&all->readers[i], step);
}

static void begin_reading(struct branch_reader *reader, const struct branch_part *part,
                          const uint64_t wanted[BRANCH_CHOICES])
{
    *reader = (struct branch_reader){
        .part = part,
        .symbols = flow_symbols(part->flow),
        .open = array_of(sizeof(uint64_t)),
        .functions = array_of(sizeof(struct met_function)),
        .inside = part->call_of == NULL,
    };
    for (int choice = 0; choice < BRANCH_CHOICES; choice++)
        reader->streams[choice] = (struct branch_stream){
            .hashes = array_of(sizeof(uint64_t)),
            .kept = array_of(sizeof(struct parting_branch)),
            .wanted = wanted[choice],
        };
}

static void end_reading(struct branch_reader readers[BRANCH_SIDES])
{
    for (int side = 0; side < BRANCH_SIDES; side++) {
        array_free(&readers[side].open);
        array_free(&readers[side].functions);
        for (int choice = 0; choice < BRANCH_CHOICES; choice++) {
            array_free(&readers[side].streams[choice].hashes);
            array_free(&readers[side].streams[choice].kept);
        }
    }
}

/* One decode where both sides are of the same recording. */
static void read_all(struct branch_reader readers[BRANCH_SIDES],
                     const struct branch_part parts[BRANCH_SIDES],
                     const uint64_t wanted[BRANCH_CHOICES])
{
    for (int side = 0; side < BRANCH_SIDES; side++)
        begin_reading(&readers[side], &parts[side], wanted);
    bool is_one = parts[0].flow == parts[1].flow;
    for (int side = 0; side < (is_one ? 1 : BRANCH_SIDES); side++) {
        struct branch_readers all = {&readers[side], is_one ? BRANCH_SIDES : 1};
        const struct flow_observer observer = {
            .context = &all, .blocks = true, .step = take_step_of_all};
        flow_steps(parts[side].flow, &observer);
    }
}

/* ---- the first that differs ---- */

static uint64_t first_block_that_differs(const struct branch_stream *a,
                                         const struct branch_stream *b)
{
    size_t same = 0;
    while (same < a->hashes.count && same < b->hashes.count &&
           *(uint64_t *)array_at(&a->hashes, same) == *(uint64_t *)array_at(&b->hashes, same))
        same++;
    return a->count == b->count && a->hash == b->hash ? NO_BLOCK : same;
}

static void compare_kept(const struct branch_stream *a, const struct branch_stream *b,
                         struct branch_divergence *divergence)
{
    size_t same = 0;
    while (same < a->kept.count && same < b->kept.count &&
           branch_is_same(array_at(&a->kept, same), array_at(&b->kept, same)))
        same++;
    divergence->is_found = true;
    divergence->common = a->wanted * BLOCK + same;
    if (same < a->kept.count)
        divergence->sides[0] = *(struct parting_branch *)array_at(&a->kept, same);
    if (same < b->kept.count)
        divergence->sides[1] = *(struct parting_branch *)array_at(&b->kept, same);
}

static bool check_met(const struct branch_reader readers[BRANCH_SIDES], struct error *error)
{
    for (int side = 0; side < BRANCH_SIDES; side++) {
        const struct branch_part *part = readers[side].part;
        if (!part->call_of || readers[side].calls_met >= part->call)
            continue;
        return error_set(error, ERROR_NOT_FOUND,
                         "-branch: call %" PRIu64 " of %s was not found among the branches, which "
                         "enter it %" PRIu64 " times: only functions that are not inlined are.",
                         part->call, part->call_of, readers[side].calls_met);
    }
    return true;
}

bool find_branch_divergences(const struct branch_part parts[BRANCH_SIDES],
                             struct branch_divergence divergences[BRANCH_CHOICES],
                             struct error *error)
{
    struct branch_reader readers[BRANCH_SIDES];
    uint64_t blocks[BRANCH_CHOICES] = {NO_BLOCK, NO_BLOCK};
    bool do_differ = false;
    read_all(readers, parts, blocks);
    bool ok = check_met(readers, error);
    for (int choice = 0; choice < BRANCH_CHOICES; choice++) {
        const struct branch_stream *stream = &readers[0].streams[choice];
        divergences[choice] = (struct branch_divergence){.common = stream->count};
        blocks[choice] = first_block_that_differs(stream, &readers[1].streams[choice]);
        do_differ = do_differ || blocks[choice] != NO_BLOCK;
    }
    end_reading(readers);
    if (!ok || !do_differ)
        return ok;
    read_all(readers, parts, blocks);
    for (int choice = 0; choice < BRANCH_CHOICES; choice++)
        if (blocks[choice] != NO_BLOCK)
            compare_kept(&readers[0].streams[choice], &readers[1].streams[choice],
                         &divergences[choice]);
    end_reading(readers);
    return true;
}
