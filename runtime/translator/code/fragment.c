#include "runtime/translator/code/fragment.h"

#include "runtime/translator/code/emit.h"
#include "runtime/translator/code/fragments_of_page.h"
#include "runtime/translator/code/translation.h"
#include "runtime/translator/log/disk_space.h"
#include "runtime/translator/own_memory.h"
#include "runtime/translator/system.h"

#include <asm/unistd.h>
#include <linux/mman.h>

#define HOT(field) ((uint32_t) __builtin_offsetof(struct tr_hot, field))

enum {
    MOST_FRAGMENTS = 1 << 24,
    FIRST_SLOTS = 1 << 12, /* of the hash table */
    TABLE_STEP = 1 << 20,  /* bytes of a fragment table that become usable at a time */
};

struct slot {
    uint32_t number; /* of the translation, + 1; 0: free */
    uint32_t hash;   /* of its address: other translations are looked at only when this is equal */
};

/* A fragment table that this process or an ancestor writes or wrote. */
struct descriptions {
    struct tr_table *table;
    uint32_t first; /* identifier */
};

/* The fragments of the process; fork copies them. */
static struct {
    struct tr_area translations; /* of struct tr_translation */
    uint32_t count;
    struct tr_area slots; /* struct slot: the hash table */
    uint32_t slot_count, slots_used;
    struct tr_fragments_of_page by_page;
    struct descriptions tables[TR_MOST_TABLES]; /* of its ancestors, and its own last */
    unsigned table_count;
    uint64_t next, ready; /* offsets in the newest table */
} all;

static struct tr_translation *translation_at(uint32_t number)
{
    return (struct tr_translation *)(void *)all.translations.start + number;
}

/* ---- finding ---- */

static uint32_t hash(uint64_t pc)
{
    return (uint32_t)((pc * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

static struct slot *slot_for(uint64_t pc)
{
    struct slot *slots = (struct slot *)(void *)all.slots.start;
    uint32_t wanted = hash(pc), mask = all.slot_count - 1;
    for (uint32_t i = wanted & mask;; i = (i + 1) & mask)
        if (slots[i].number == 0 ||
            (slots[i].hash == wanted && translation_at(slots[i].number - 1)->pc == pc))
            return &slots[i];
}

/* Into a table that does not have it. */
static void put_slot(struct slot slot)
{
    struct slot *slots = (struct slot *)(void *)all.slots.start;
    uint32_t i = slot.hash & (all.slot_count - 1);
    while (slots[i].number)
        i = (i + 1) & (all.slot_count - 1);
    slots[i] = slot;
}

struct tr_translation *tr_fragment_find(uint64_t pc)
{
    uint32_t number = slot_for(pc)->number;
    struct tr_translation *found = number ? translation_at(number - 1) : NULL;
    return found && found->valid ? found : NULL;
}

static bool allocate_slots(uint32_t count)
{
    struct tr_area area;
    if (!tr_area_reserve(&area, (uint64_t)count * sizeof(struct slot)) ||
        !tr_area_prepare(&area, area.size))
        return false;
    struct tr_area old = all.slots;
    uint32_t old_count = all.slot_count;
    all.slots = area;
    all.slot_count = count;
    for (uint32_t i = 0; i < old_count; i++) {
        struct slot slot = ((struct slot *)(void *)old.start)[i];
        if (slot.number)
            put_slot(slot);
    }
    if (old.start) {
        tr_own_remove((uint64_t)old.start);
        tr_syscall(__NR_munmap, (uint64_t)old.start, old.size, 0);
    }
    return true;
}

struct tr_translation *tr_fragment_add(void)
{
    if (all.slots_used * 2 >= all.slot_count && !allocate_slots(all.slot_count * 2))
        return NULL;
    if (!tr_area_prepare(&all.translations, sizeof(struct tr_translation)))
        return NULL;
    struct tr_translation *translation = translation_at(all.count);
    *translation = (struct tr_translation){0};
    return translation;
}

bool tr_fragment_made_from(const struct tr_translation *translation, uint64_t start, uint64_t end)
{
    uint32_t number = (uint32_t)(translation - translation_at(0));
    return tr_fragments_of_page_add(&all.by_page, start, end, number);
}

void tr_fragment_publish(struct tr_translation *translation)
{
    struct tr_region *region = &tr_cache.regions[translation->region];
    uint32_t number = (uint32_t)(translation - translation_at(0));
    all.count = number + 1;
    all.translations.used += sizeof *translation;
    translation->valid = 1;
    struct slot *slot = slot_for(translation->pc);
    all.slots_used += slot->number == 0;
    *slot = (struct slot){number + 1, hash(translation->pc)};
    ((uint32_t *)(void *)region->fragments.start)[region->fragments.used / sizeof(uint32_t)] =
        number;
    region->fragments.used += sizeof(uint32_t);
}

/* ---- descriptions ---- */

static struct tr_table *table_at(const struct tr_process *process, uint32_t serial)
{
    const struct tr_control *control = process->control;
    return (void *)(process->arena + control->table_offset +
                    (uint64_t)serial * control->table_size);
}

/* An empty table that is never written to. */
static bool make_table(struct tr_process *process, uint32_t serial, uint32_t parent, uint32_t first)
{
    struct tr_table *table = table_at(process, serial);
    if (serial >= process->control->table_count ||
        tr_syscall(__NR_mprotect, (uint64_t)table, TABLE_STEP, PROT_READ | PROT_WRITE) != 0 ||
        !tr_is_backed((uint64_t)table, TR_PAGE))
        return false;
    table->serial = serial;
    table->parent = parent;
    table->first = first;
    atomic_store(&table->pid, 0);
    atomic_store(&table->left, 0);
    atomic_store(&table->tail, TR_PAGE);
    atomic_signal_fence(memory_order_release);
    table->magic = TR_TABLE_MAGIC;
    return true;
}

static void use_table(struct tr_process *process, uint32_t serial)
{
    struct tr_table *table = table_at(process, serial);
    all.next = TR_PAGE;
    all.ready = TABLE_STEP;
    atomic_store(&table->pid, (uint32_t)process->pid);
    process->table = table;
    process->next_fragment = table->first;
    all.tables[all.table_count++] = (struct descriptions){table, table->first};
}

bool tr_fragments_begin(struct tr_process *process, uint32_t table)
{
    enum { FIRST_IDENTIFIER = 1 };
    if (!tr_area_reserve(&all.translations,
                         (uint64_t)MOST_FRAGMENTS * sizeof(struct tr_translation)) ||
        !allocate_slots(FIRST_SLOTS))
        return false;
    if (!make_table(process, table, UINT32_MAX, FIRST_IDENTIFIER))
        return false;
    use_table(process, table);
    return true;
}

bool tr_fragments_before_fork(struct tr_process *process, uint32_t table)
{
    uint32_t parent = all.tables[all.table_count - 1].table->serial;
    return make_table(process, table, parent, process->next_fragment);
}

void tr_fragments_after_failed_fork(struct tr_process *process, uint32_t table)
{
    table_at(process, table)->magic = 0;
}

void tr_fragments_forked(struct tr_process *process, uint32_t table)
{
    use_table(process, table);
}

/* Whether the disk has space for a description at that offset. */
static bool has_space(uint64_t offset, uint64_t size)
{
    bool begins_page = (offset - 1) / TR_PAGE != (offset + size - 1) / TR_PAGE;
    return !begins_page || tr_is_backed((uint64_t)tr_process.table + offset, size);
}

struct tr_fragment *tr_fragment_reserve_description(uint64_t size)
{
    struct tr_process *process = &tr_process;
    if (!process->table || all.next + size > process->control->table_size)
        return NULL;
    if (all.next + size > all.ready) {
        if (tr_syscall(__NR_mprotect, (uint64_t)process->table + all.ready, TABLE_STEP,
                       PROT_READ | PROT_WRITE) != 0)
            return NULL;
        all.ready += TABLE_STEP;
    }
    if (!has_space(all.next, size))
        return NULL;
    return (void *)((uint8_t *)process->table + all.next);
}

void tr_fragment_add_description(struct tr_translation *translation,
                                 struct tr_fragment *description)
{
    description->reserved = all.count;
    translation->identifier = tr_process.next_fragment;
    all.next += description->size;
    tr_process.next_fragment += description->size / 8;
    atomic_store_explicit(&tr_process.table->tail, all.next, memory_order_release);
}

const struct tr_fragment *tr_fragment_description(uint32_t identifier)
{
    unsigned i = all.table_count - 1;
    while (i > 0 && identifier < all.tables[i].first)
        i--;
    const uint8_t *table = (const uint8_t *)all.tables[i].table;
    return (const void *)(table + TR_PAGE + 8 * (uint64_t)(identifier - all.tables[i].first));
}

uint64_t tr_fragment_pc(uint32_t identifier)
{
    return tr_fragment_description(identifier)->pc;
}

struct tr_translation *tr_fragment_translation(uint32_t identifier)
{
    return translation_at(tr_fragment_description(identifier)->reserved);
}

/* ---- entering ---- */

static struct tr_region *region_of(const struct tr_translation *translation)
{
    return &tr_cache.regions[translation->region];
}

uint64_t tr_fragment_body(const struct tr_translation *translation)
{
    return (uint64_t)region_of(translation)->hot.start + translation->code;
}

void tr_emit_indirect_entry(struct tr_emitter *emitter, uint64_t pc, uint32_t identifier)
{
    static const uint8_t test[] = {
        0x48, 0x8d, 0x0c, 0x11, /* lea rcx, [rcx + rdx] */
        0xe3, 0x08,             /* jrcxz over the jump */
    };
    uint8_t *start = emitter->at;
    tr_emit_constant(emitter, TR_RCX, -pc);
    tr_emit_bytes(emitter, test, sizeof test);
    tr_emit_gs_jump(emitter, HOT(leave_indirect));
    tr_emit_load(emitter, TR_RDX, HOT(rdx));
    tr_emit_load(emitter, TR_RCX, HOT(rcx));
    tr_emit_nops(emitter, (unsigned)(TR_INDIRECT_BODY - (emitter->at - start)));
    tr_emit_log_word(emitter, identifier << 1 | TR_INDIRECT);
}

/* For a fragment that was made without one. */
static bool make_indirect_entry(struct tr_translation *translation)
{
    enum { LARGEST = 128 };
    struct tr_region *region = region_of(translation);
    if (!tr_area_prepare(&region->cold, LARGEST))
        return false;
    struct tr_emitter cold = {region->cold.start + region->cold.used, 0};
    tr_emit_gap_8(&cold);
    translation->indirect = (uint32_t)(cold.at - region->hot.start);
    tr_emit_indirect_entry(&cold, translation->pc, translation->identifier);
    tr_emit_jump(&cold, tr_fragment_body(translation) + TR_ENTRY_SIZE);
    region->cold.used = (uint64_t)(cold.at - region->cold.start);
    return true;
}

static uint64_t indirect_entry(const struct tr_translation *translation)
{
    return (uint64_t)region_of(translation)->hot.start + translation->indirect;
}

uint64_t tr_fragment_indirect_entry(struct tr_translation *translation)
{
    if (!translation->indirect && !make_indirect_entry(translation))
        return 0;
    return indirect_entry(translation);
}

uint64_t tr_fragment_indirect_body(struct tr_translation *translation)
{
    uint64_t entry = tr_fragment_indirect_entry(translation);
    return entry ? entry + TR_INDIRECT_BODY : 0;
}

void tr_link(struct tr_region *region, uint64_t address, uint64_t target)
{
    enum { PADDING = 7, JUMP = 6, FAR_JUMP = PADDING + JUMP + 8 };
    int64_t displacement = (int64_t)(target - (address + 4));
    if (displacement != (int32_t)displacement) {
        if (!tr_area_prepare(&region->cold, FAR_JUMP))
            return;
        struct tr_emitter cold = {region->cold.start + region->cold.used, 0};
        while ((tr_emit_address(&cold) + JUMP) & 7) /* as for translate.c's constants */
            tr_emit_8(&cold, 0xcc);
        displacement = (int64_t)(tr_emit_address(&cold) - (address + 4));
        tr_emit_8(&cold, 0xff); /* jmp [rip + 0] */
        tr_emit_8(&cold, 0x25);
        tr_emit_32(&cold, 0);
        tr_emit_64(&cold, target);
        region->cold.used = (uint64_t)(cold.at - region->cold.start);
    }
    __atomic_store_n((uint32_t *)address, (uint32_t)displacement, __ATOMIC_RELEASE);
}

/* ---- taking back ---- */

/* From now on the log entry at `address` (a multiple of 8) is a jump to `code`, in the same region. A thread that has
 * run the entry's first instruction goes on after it, where the bytes stay as they are. */
static void put_jump(uint64_t address, uint64_t code)
{
    enum { JUMP = 5 };
    uint64_t bytes = *(uint64_t *)address;
    uint32_t displacement = (uint32_t)(code - (address + JUMP));
    bytes = (bytes & ~((UINT64_C(1) << 8 * JUMP) - 1)) | (uint64_t)displacement << 8 | 0xe9;
    __atomic_store_n((uint64_t *)address, bytes, __ATOMIC_RELEASE);
}

/* Entering there leads to the runtime, which makes it a jump to the next translation of `pc`. */
static void close_entry(struct tr_region *region, uint64_t address, uint64_t pc, bool indirect)
{
    enum { EXIT = 12 + 8 + sizeof(struct tr_exit) };
    if (!tr_area_prepare(&region->cold, EXIT))
        return;
    struct tr_emitter cold = {region->cold.start + region->cold.used, 0};
    uint64_t code = tr_emit_address(&cold);
    tr_emit_gs_store_32(&cold, HOT(exit), tr_cold_name(region, cold.at + 12 + 8));
    tr_emit_gs_jump(&cold, HOT(leave_direct));
    struct tr_exit exit = {.target = pc,
                           .patch = (uint32_t)(address + 1 - (uint64_t)region->hot.start),
                           .kind = indirect ? TR_EXIT_INDIRECT : TR_EXIT_DIRECT};
    tr_emit_bytes(&cold, (const uint8_t *)&exit, sizeof exit);
    region->cold.used = (uint64_t)(cold.at - region->cold.start);
    put_jump(address, code);
}

/* Indirect branches come to the runtime instead. */
static void close_indirect_entry(uint64_t entry)
{
    uint8_t jump[8];
    struct tr_emitter emitter = {jump, 0};
    tr_emit_gs_jump(&emitter, HOT(leave_indirect));
    uint64_t bytes;
    memcpy(&bytes, jump, sizeof bytes);
    __atomic_store_n((uint64_t *)entry, bytes, __ATOMIC_RELEASE);
}

void tr_fragment_replace(struct tr_translation *older, struct tr_translation *newer)
{
    struct tr_region *region = region_of(older);
    older->valid = 0;
    if (older->region != newer->region) {
        close_entry(region, tr_fragment_body(older), older->pc, false);
    } else {
        put_jump(tr_fragment_body(older), tr_fragment_body(newer));
    }
    if (!older->indirect)
        return;
    uint64_t entry = indirect_entry(older), body = tr_fragment_indirect_body(newer);
    close_indirect_entry(entry);
    if (older->region == newer->region && body)
        put_jump(entry + TR_INDIRECT_BODY, body);
    else
        close_entry(region, entry + TR_INDIRECT_BODY, older->pc, true);
}

static void take_back(struct tr_translation *translation)
{
    struct tr_region *region = region_of(translation);
    translation->valid = 0;
    close_entry(region, tr_fragment_body(translation), translation->pc, false);
    if (!translation->indirect)
        return;
    uint64_t entry = indirect_entry(translation);
    close_indirect_entry(entry);
    close_entry(region, entry + TR_INDIRECT_BODY, translation->pc, true);
}

struct range {
    uint64_t start, end;
};

/* Whether the translation is used after the bytes in the range have changed. */
static bool survives(void *context, uint32_t number)
{
    const struct range *changed = context;
    struct tr_translation *translation = translation_at(number);
    if (translation->valid && translation->pc - translation->low < changed->end &&
        translation->pc + translation->high > changed->start)
        take_back(translation);
    return translation->valid;
}

void tr_invalidate(struct tr_thread *thread, uint64_t start, uint64_t end)
{
    struct range changed = {start, end};
    tr_fragments_of_page_visit(&all.by_page, start, end, survives, &changed);
}

/* ---- from addresses of the cache ---- */

bool tr_in_cache(uint64_t address)
{
    return tr_cache_find(address) != NULL;
}

/* The last fragment that begins at or before `offset` of the hot part. */
static const struct tr_translation *fragment_before(const struct tr_region *region, uint64_t offset)
{
    const uint32_t *numbers = (const uint32_t *)(const void *)region->fragments.start;
    uint64_t low = 0, high = region->fragments.used / sizeof *numbers;
    while (low < high) {
        uint64_t middle = (low + high) / 2;
        if (translation_at(numbers[middle])->code <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? translation_at(numbers[low - 1]) : NULL;
}

/* The fragment whose code the cache address lies in, and how far from its beginning. */
static const struct tr_translation *fragment_at(uint64_t address, uint32_t *offset)
{
    const struct tr_region *region = tr_cache_find(address);
    uint64_t place = region ? address - (uint64_t)region->hot.start : 0;
    const struct tr_translation *translation =
        region && place < TR_REGION_PART ? fragment_before(region, place) : NULL;
    if (!translation || place - translation->code >= translation->code_size)
        return NULL;
    *offset = (uint32_t)(place - translation->code);
    return translation;
}

bool tr_find_state(struct tr_thread *thread, struct tr_state *state, unsigned *block)
{
    uint32_t offset;
    const struct tr_translation *translation = fragment_at(state->pc, &offset);
    return translation && tr_translate_state(thread, translation, offset, state, block);
}

bool tr_fragment_at_is_of(uint64_t address, uint64_t start, uint64_t end)
{
    uint32_t offset;
    const struct tr_translation *translation = fragment_at(address, &offset);
    return translation && start < translation->pc + translation->high &&
           translation->pc - translation->low < end;
}
