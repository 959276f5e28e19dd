
#include "runtime/translator/code/code_pages.h"
#include "runtime/translator/code/breakpoints.h"
#include "runtime/translator/code/code_map.h"
#include "runtime/translator/code/fragment.h"
#include "runtime/translator/code/page_table.h"
#include "runtime/translator/lock.h"
#include "runtime/translator/log/clock.h"
#include "runtime/translator/log/code_dump.h"
#include "runtime/translator/log/file_dump.h"
#include "runtime/translator/log/sideband.h"
#include "runtime/translator/own_memory.h"
#include "runtime/translator/system.h"

#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/mman.h>

enum {
    /* Writes that a page may see before its fragments check their bytes instead: one costs a fault, two system
     * calls and the translation of what ran, about as much as some thousand checks. */
    WRITES_LIMIT = 8,
    WRITES_OF_OWN_PAGE = 4, /* how much a write counts that the code in the page itself does */
    /* Checks that are seen to pass before such a page is protected once more; each time twice as many. */
    PASSES_OF_FIRST_CHANCE = 2048,
    MOST_CHANCES = 20,
    NEAR_STACK = 64 << 10, /* bytes around the stack pointer that are stack, too */
};

static const uint64_t vsyscall_page = UINT64_C(0xffffffffff600000);

static struct tr_code_map map;
static struct tr_page_table pages;
/* How often protection was given back, or went with its mapping. A fault that a protected page has raised may come here
 * later than that. */
static uint64_t times_given_back;
/* Ticks: when the process began. Until `was_lost` no code has taken the place of other code but where records say so. */
static uint64_t in_place_since;
static bool was_lost;

static uint64_t page_of(uint64_t address)
{
    return address & ~(uint64_t)(TR_PAGE - 1);
}

static uint64_t minimum(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* --- Looking up --- */

static void note_given_back(void)
{
    __atomic_store_n(&times_given_back, times_given_back + 1, __ATOMIC_RELEASE);
}

void tr_code_begin(struct tr_thread *thread)
{
    in_place_since = tr_time(thread);
    was_lost = false;
}

/* What was mapped there has gone, and our write protection with it. */
static void lose(void *context, uint64_t start, uint64_t end)
{
    struct tr_thread *thread = context;
    was_lost = true;
    tr_invalidate(thread, start, end);
    tr_page_forget(&pages, start, end);
    note_given_back();
}

/* The region of the address, after looking again when it is not known as executable. `*known` is false when it cannot
 * be found out whether there is one. */
static struct tr_code_region *look_up(struct tr_thread *thread, uint64_t address, bool *known)
{
    struct tr_code_region *region = map.stale ? NULL : tr_code_map_find(&map, address);
    *known = true;
    if (region && (region->protection & PROT_EXEC))
        return region;
    *known = tr_code_map_read(&map, lose, thread);
    return tr_code_map_find(&map, address);
}

static uint64_t file_offset(const struct tr_code_region *region, uint64_t address)
{
    return region->line.offset + (address - region->line.start);
}

/* --- Mapping records --- */

/* The time in the record of code that has not taken the place of other code. Another thread may run it at once, at a time
 * of which the recorder knows the thread's newest stamp only: so it is said to have been there all along. Where mappings have
 * gone, it may have taken their place, and the recorder has transcoded what ran until now. */
static uint64_t since_ever(const struct tr_thread *thread)
{
    enum { NOW = 0 };
    return thread->vforked || was_lost ? NOW : in_place_since;
}

static void log_region(struct tr_thread *thread, const struct tr_code_region *region,
                       uint64_t start, uint64_t end, uint64_t since)
{
    enum { LONGEST_PATH = 4096 };
    char path[LONGEST_PATH];
    tr_maps_path(&region->line, path, sizeof path);
    struct tr_mapping mapping = {
        .start = start,
        .length = end - start,
        .file_offset = file_offset(region, start),
        .inode = region->line.inode,
        .device_major = region->line.major,
        .device_minor = region->line.minor,
        .protection = region->protection,
    };
    if (region->source == TR_CODE_FROM_FILE && !map.sealed)
        mapping.version = tr_file_dump(thread->process, path, region->line.inode);
    tr_sideband_mapping(thread, since, &mapping, path);
}

/* As stat gives them: they differ from those in /proc/self/maps on btrfs and overlayfs. Only triggers, ends
 * of recordings, selected functions, and those whose arguments are recorded need them. */
static void identify(struct tr_thread *thread, struct tr_code_region *region)
{
    enum { LONGEST_PATH = 4096 };
    char path[LONGEST_PATH];
    struct stat status;
    const struct tr_options *options = &thread->process->control->options;
    if (options->place_count == 0 && options->until_count == 0 && options->start_count == 0 &&
        options->value_place_count == 0 && options->selected_count == 0)
        return;
    const struct tr_map_line *line = &region->line;
    region->inode = line->inode;
    region->device = (line->major & 0xfff) << 8 | (line->minor & 0xff) |
                     (uint64_t)(line->minor & ~UINT32_C(0xff)) << 12 |
                     (uint64_t)(line->major & ~UINT32_C(0xfff)) << 32;
    tr_maps_path(line, path, sizeof path);
    if (map.sealed || tr_syscall6(__NR_newfstatat, (uint64_t)AT_FDCWD, (uint64_t)path,
                                  (uint64_t)&status, 0, 0, 0) != 0)
        return;
    region->device = status.st_dev;
    region->inode = status.st_ino;
}

static void report(struct tr_thread *thread, struct tr_code_region *region)
{
    region->used = true;
    if (region->source == TR_CODE_FROM_ANONYMOUS || region->reported)
        return;
    log_region(thread, region, region->start, region->end, since_ever(thread));
    region->reported = true;
    if (region->source == TR_CODE_FROM_FILE)
        identify(thread, region);
}

/* --- Protecting --- */

static bool protect(uint64_t start, uint64_t end, uint8_t protection)
{
    return tr_syscall(__NR_mprotect, start, end - start, protection) == 0;
}

/* The end of the pages from `page` on that are protected and side by side, with the same rights otherwise. */
static uint64_t end_of_protected(const struct tr_page *page, uint64_t end)
{
    uint64_t at = page->address;
    uint8_t protection = page->protection;
    while (page && page->address == at && (page->flags & TR_PAGE_PROTECTED) &&
           page->protection == protection) {
        at += TR_PAGE;
        page = tr_page_next(&pages, page, at, end);
    }
    return at;
}

/* The pages are writable again, as the program wants them to be. Their fragments were invalidated before: a thread that
 * writes there from now on, and runs what it wrote, is not noticed. Returns whether any was protected. */
static bool unprotect(uint64_t start, uint64_t end)
{
    uint64_t done = start;
    for (struct tr_page *page = NULL; (page = tr_page_next(&pages, page, start, end));) {
        if (!(page->flags & TR_PAGE_PROTECTED))
            continue;
        if (page->address >= done) {
            done = end_of_protected(page, end);
            protect(page->address, done, page->protection);
        }
    }
    for (struct tr_page *page = NULL; (page = tr_page_next(&pages, page, start, end));) {
        if (!(page->flags & TR_PAGE_PROTECTED))
            continue;
        page->flags &= (uint8_t) ~(TR_PAGE_PROTECTED | TR_PAGE_CLEAN | TR_PAGE_NOTED);
    }
    if (done > start)
        note_given_back();
    return done > start;
}

static bool is_stack(const struct tr_thread *thread, const struct tr_code_region *region,
                     uint64_t page)
{
    static const char stack[] = "[stack]";
    const struct tr_map_line *line = &region->line;
    if (line->path_size == sizeof stack - 1 && memcmp(line->path, stack, line->path_size) == 0)
        return true;
    uint64_t pointer = thread->app.r[TR_RSP];
    return page + NEAR_STACK > pointer && page < pointer + NEAR_STACK;
}

/* Where the program may write to the page. */
static enum tr_code protect_writable(const struct tr_thread *thread,
                                     const struct tr_code_region *region, uint64_t address)
{
    struct tr_page *page = tr_page_get(&pages, address);
    if (!page)
        return TR_CODE_CHANGING;
    if (page->flags & TR_PAGE_PROTECTED)
        return TR_CODE_PROTECTED;
    page->protection |= region->protection;
    if (tr_process.leaves_code || page->writes >= WRITES_LIMIT ||
        is_stack(thread, region, address) ||
        !protect(address, address + TR_PAGE, page->protection & (uint8_t)~PROT_WRITE))
        return TR_CODE_CHANGING;
    page->flags |= TR_PAGE_PROTECTED;
    return TR_CODE_PROTECTED;
}

/* As the program wants it: /proc/self/maps shows what was protected when it was read as not writable. */
static bool is_writable(const struct tr_code_region *region, uint64_t address)
{
    const struct tr_page *page = tr_page_find(&pages, address);
    uint8_t protection = page && page->protection ? page->protection : region->protection;
    return (protection & PROT_WRITE) != 0;
}

static bool is_aliased(const struct tr_code_region *region, uint64_t page)
{
    return tr_code_map_is_aliased(&map, region, page, page + TR_PAGE);
}

/* Whether another process may write to what the region shows: a file with a name, System V shared memory, or what was inherited by fork or has come
 * through a socket. Memory that a process has made for itself, to map it twice, is written through its own mappings. */
static bool others_may_write(const struct tr_code_region *region)
{
    static const char system_v[] = "/SYSV";
    const struct tr_map_line *line = &region->line;
    if (!line->shared)
        return false;
    return tr_process.shares_memory || region->source == TR_CODE_FROM_FILE ||
           (line->path_size > sizeof system_v - 1 &&
            memcmp(line->path, system_v, sizeof system_v - 1) == 0);
}

void tr_code_shared(struct tr_thread *thread)
{
    if (thread->process->shares_memory)
        return;
    thread->process->shares_memory = true;
    for (struct tr_code_region *region = NULL;
         (region = tr_code_map_next(&map, region, 0, UINT64_MAX));)
        if (region->line.shared)
            tr_invalidate(thread, region->start, region->end);
}

/* Whether the page, of a private mapping of a file, shows what lies in the file. */
static bool page_is_of_file(const struct tr_code_region *region, uint64_t address)
{
    enum { LONGEST_PATH = 4096 };
    char path[LONGEST_PATH];
    if (tr_maps_written(address, address + TR_PAGE) != address)
        return true;
    tr_maps_path(&region->line, path, sizeof path);
    return tr_maps_equals_file(address, path, file_offset(region, address));
}

/* Pages that a debugger has touched, or the recorder, are as they were. */
static bool has_changed_pages(const struct tr_code_region *region)
{
    enum { MOST_LOOKS = 16 };
    uint64_t at = region->start;
    for (unsigned i = 0; i < MOST_LOOKS; i++) {
        at = tr_maps_written(at, region->end);
        if (at == region->end)
            return false;
        if (!page_is_of_file(region, at))
            return true;
        at += TR_PAGE;
        if (at == region->end)
            return false;
    }
    return true;
}

/* A mapping of a file from which no page differs from the file's. */
static bool is_unchanged_file(struct tr_code_region *region)
{
    if (region->source != TR_CODE_FROM_FILE || (region->protection & PROT_WRITE) ||
        region->line.shared || tr_code_map_is_aliased(&map, region, region->start, region->end))
        return false;
    if (!region->checked) {
        region->modified = !map.sealed && has_changed_pages(region);
        region->checked = true;
    }
    return !region->modified;
}

static enum tr_code kind_of_page(const struct tr_thread *thread,
                                 const struct tr_code_region *region, uint64_t address)
{
    if (!is_writable(region, address))
        return is_aliased(region, address) || others_may_write(region) ? TR_CODE_CHANGING
                                                                       : TR_CODE_PROTECTED;
    return region->line.shared ? TR_CODE_CHANGING : protect_writable(thread, region, address);
}

static bool writes_itself(uint64_t address)
{
    const struct tr_page *page = tr_page_find(&pages, address);
    return page && (page->flags & TR_PAGE_WRITES_ITSELF);
}

struct tr_code_range tr_code_at(struct tr_thread *thread, uint64_t pc)
{
    uint64_t page = page_of(pc);
    struct tr_code_range range = {.start = page, .end = page + TR_PAGE};
    bool known;
    struct tr_code_region *region = look_up(thread, pc, &known);
    if (!region || !(region->protection & PROT_EXEC)) {
        bool ours = tr_own_overlaps(pc, pc + 1);
        range.kind = known || ours || region ? TR_CODE_NONE : TR_CODE_CHANGING;
        return range;
    }
    report(thread, region);
    range.vdso = region->source == TR_CODE_FROM_VDSO || page == vsyscall_page;
    bool whole = range.vdso || (is_unchanged_file(region) && !is_writable(region, page));
    if (whole) {
        range.kind = TR_CODE_FILE;
        if (!thread->process->supplies_pages) { /* else each page may have to be waited for */
            range.start = region->start;
            range.end = region->end;
        }
    } else {
        range.kind = kind_of_page(thread, region, page);
        range.writes_itself = writes_itself(page);
    }
    range.device = region->device;
    range.inode = region->inode;
    range.file_offset = region->source == TR_CODE_FROM_FILE ? file_offset(region, range.start) : 0;
    return range;
}

void tr_code_report_all(struct tr_thread *thread)
{
    tr_lock(&thread->process->lock);
    tr_code_map_read(&map, lose, thread);
    for (struct tr_code_region *region = NULL;
         (region = tr_code_map_next(&map, region, 0, UINT64_MAX));)
        if (region->protection & PROT_EXEC)
            report(thread, region);
    tr_unlock(&thread->process->lock);
}

/* --- Content --- */

static bool is_of_file(struct tr_code_region *region, uint64_t address)
{
    return region->source == TR_CODE_FROM_FILE && !region->line.shared && !map.sealed &&
           page_is_of_file(region, address);
}

static bool can_change(const struct tr_code_region *region, const struct tr_page *page)
{
    if (!region || is_aliased(region, page->address) || others_may_write(region))
        return true;
    return is_writable(region, page->address) && !(page->flags & TR_PAGE_PROTECTED);
}

/* The page has another dump than before, `older` (NULL: it showed a file). A fragment that compares its bytes may be of some that the
 * new dump does not have: they were replaced since it ran, and it would pass again when the program puts them back. */
static void invalidate_changed(struct tr_thread *thread, const struct tr_page *page,
                               const uint8_t *older)
{
    enum { STEP = 8 };
    uint64_t changed = 0; /* bytes before the step that have changed, one after the other */
    for (uint64_t at = 0; at <= TR_PAGE; at += STEP) {
        if (at < TR_PAGE && (!older || memcmp(older + at, page->dump + at, STEP) != 0)) {
            changed += STEP;
            continue;
        }
        if (changed)
            tr_invalidate(thread, page->address + at - changed, page->address + at);
        changed = 0;
    }
}

static void dump(struct tr_thread *thread, struct tr_page *page,
                 const struct tr_code_region *region)
{
    bool is_first =
        region && region->source == TR_CODE_FROM_ANONYMOUS && !(page->flags & TR_PAGE_SHOWN);
    const uint8_t *older = page->flags & TR_PAGE_DUMPED ? page->dump : NULL;
    tr_code_dump(thread, page, region ? region->protection : PROT_READ | PROT_EXEC,
                 is_first ? since_ever(thread) : 0);
    if (!is_first && (page->flags & TR_PAGE_DUMPED) && page->dump != older)
        invalidate_changed(thread, page, older);
}

/* `goes_on`: an instruction may begin in it and end in the next page. Decoders read both parts from the page's dump. */
static void note_page(struct tr_thread *thread, uint64_t address, bool goes_on)
{
    struct tr_code_region *region = tr_code_map_find(&map, address);
    if (region && (region->source == TR_CODE_FROM_VDSO ||
                   (is_unchanged_file(region) && !is_writable(region, address))))
        return;
    struct tr_page *page = tr_page_get(&pages, address);
    if (!page)
        return;
    bool changes = can_change(region, page);
    page->flags |= TR_PAGE_NOTED;
    bool has_tail = !goes_on || !(page->flags & TR_PAGE_DUMPED) || tr_code_dump_has_tail(page);
    if ((page->flags & TR_PAGE_CLEAN) && !changes && has_tail)
        return;
    if (!region || !is_of_file(region, address)) {
        dump(thread, page, region);
    } else if (page->flags & TR_PAGE_DUMPED) { /* else the dump would go on hiding the file */
        log_region(thread, region, address, address + TR_PAGE, 0);
        page->flags &= (uint8_t)~TR_PAGE_DUMPED;
        tr_invalidate(thread, address, address + TR_PAGE);
    }
    /* A thread that write-protects it later must find it unclean, and dump what was written until then. */
    page->flags &= (uint8_t)~TR_PAGE_CLEAN;
    page->flags |= changes ? 0 : TR_PAGE_CLEAN;
}

void tr_code_note(struct tr_thread *thread, uint64_t pc, uint64_t end)
{
    for (uint64_t page = page_of(pc); page < end; page += TR_PAGE)
        note_page(thread, page, page + TR_PAGE < end);
}

/* --- Changes --- */

static void count_write(struct tr_page *page, unsigned weight)
{
    if (page->writes < WRITES_LIMIT)
        page->writes = (uint16_t)(page->writes + weight);
}

/* A fault that our protection does not explain now: it may have been raised before protection was last given back. The thread
 * runs the instruction again, once for each time that happens, so the program's own faults arrive. */
static bool may_be_late(struct tr_thread *thread)
{
    bool late = thread->given_back_seen != times_given_back;
    thread->given_back_seen = times_given_back;
    return late;
}

static bool was_written(struct tr_thread *thread, uint64_t address, uint64_t writer_pc)
{
    struct tr_page *page = tr_page_find(&pages, page_of(address));
    if (!page || !(page->flags & TR_PAGE_PROTECTED))
        return may_be_late(thread);
    count_write(page, page_of(writer_pc) == page->address ? WRITES_OF_OWN_PAGE : 1);
    tr_invalidate(thread, page->address, page->address + TR_PAGE);
    unprotect(page->address, page->address + TR_PAGE);
    return true;
}

bool tr_code_written(struct tr_thread *thread, uint64_t address, uint64_t writer_pc)
{
    tr_lock(&thread->process->lock);
    bool ours = was_written(thread, address, writer_pc);
    tr_unlock(&thread->process->lock);
    return ours;
}

void tr_code_writes_itself(struct tr_thread *thread, uint64_t address)
{
    tr_lock(&thread->process->lock);
    struct tr_page *page = tr_page_find(&pages, page_of(address));
    if (page) {
        page->flags |= TR_PAGE_WRITES_ITSELF;
        page->writes = WRITES_LIMIT;
    }
    tr_unlock(&thread->process->lock);
}

/* The next write gives protection up again. */
static void give_chance(struct tr_thread *thread, struct tr_page *page)
{
    page->passes = 0;
    page->chances++;
    page->writes = WRITES_LIMIT - 1;
    page->flags &= (uint8_t) ~(TR_PAGE_NOTED | TR_PAGE_CLEAN);
    tr_invalidate(thread, page->address, page->address + TR_PAGE);
}

void tr_code_passed(struct tr_thread *thread, uint64_t start, uint64_t end)
{
    if (tr_process.leaves_code)
        return;
    for (struct tr_page *page = NULL; (page = tr_page_next(&pages, page, page_of(start), end));) {
        if (page->writes < WRITES_LIMIT || page->chances == MOST_CHANCES ||
            (page->flags & TR_PAGE_WRITES_ITSELF))
            continue;
        if (++page->passes >> page->chances >= PASSES_OF_FIRST_CHANCE)
            give_chance(thread, page);
    }
}

bool tr_code_unprotect(struct tr_thread *thread, uint64_t start, uint64_t end)
{
    for (struct tr_page *page = NULL; (page = tr_page_next(&pages, page, start, end));)
        if (page->flags & TR_PAGE_PROTECTED) {
            count_write(page, 1);
            tr_invalidate(thread, page->address, page->address + TR_PAGE);
        }
    return unprotect(start, end);
}

uint64_t tr_code_times_given_back(void)
{
    return __atomic_load_n(&times_given_back, __ATOMIC_ACQUIRE);
}

/* Fragments are many: all between the first and the last protected page are invalidated at once. */
void tr_code_let_go(struct tr_thread *thread, bool others)
{
    uint64_t first = UINT64_MAX, end = 0;
    tr_process.leaves_code = true;
    tr_breakpoints_remove(0, UINT64_MAX);
    for (struct tr_page *page = NULL; (page = tr_page_next(&pages, page, 0, UINT64_MAX));) {
        if (!(page->flags & TR_PAGE_PROTECTED))
            continue;
        first = minimum(first, page->address);
        end = page->address + TR_PAGE;
    }
    if (end == 0)
        return;
    if (others)
        tr_invalidate(thread, first, end);
    unprotect(first, end);
}

static bool forget(struct tr_thread *thread, uint64_t start, uint64_t end)
{
    bool used = tr_code_map_forget(&map, start, end);
    used |= tr_page_next(&pages, NULL, start, end) != NULL;
    if (used)
        lose(thread, start, end);
    return used;
}

bool tr_code_changed(struct tr_thread *thread, uint64_t start, uint64_t end)
{
    tr_breakpoints_remove(start, end);
    if (tr_page_next(&pages, NULL, start, end)) {
        tr_invalidate(thread, start, end);
        unprotect(start, end);
    }
    return forget(thread, start, end);
}

/* UINT64_MAX: not known. */
static uint64_t inode_of(int32_t file)
{
    uint64_t inode = UINT64_MAX;
    struct stat status;
    if (!map.sealed && tr_syscall6(__NR_newfstatat, (uint64_t)file, (uint64_t) "",
                                   (uint64_t)&status, AT_EMPTY_PATH, 0, 0) == 0)
        inode = status.st_ino;
    return inode;
}

bool tr_code_in_open_files(void)
{
    return __atomic_load_n(&map.open_files, __ATOMIC_ACQUIRE);
}

void tr_code_file_written(struct tr_thread *thread, int32_t file, bool named)
{
    uint64_t inode = inode_of(file);
    tr_lock(&thread->process->lock);
    tr_code_map_file_written(&map, inode, named, lose, thread);
    tr_unlock(&thread->process->lock);
}

/* A private mapping of a file that shows what lies there: no other process sees what is changed. */
static bool may_have_breakpoints(struct tr_code_region *region)
{
    return (region->protection & PROT_EXEC) && !region->line.shared && is_unchanged_file(region);
}

/* In what is known of the range. */
static void put_breakpoints(struct tr_thread *thread, uint64_t start, uint64_t end)
{
    for (struct tr_code_region *region = NULL;
         (region = tr_code_map_next(&map, region, start, end));) {
        if (!may_have_breakpoints(region))
            continue;
        identify(thread, region);
        tr_breakpoints_insert(
            &(struct tr_breakable){.start = region->start,
                                   .end = region->end,
                                   .inode = region->inode,
                                   .file_offset = file_offset(region, region->start),
                                   .protection = region->protection});
    }
}

static bool selects(const struct tr_thread *thread)
{
    return thread->process->control->options.selected_count && !tr_process.leaves_code;
}

void tr_code_break(struct tr_thread *thread, uint64_t start, uint64_t end)
{
    if (selects(thread) && tr_code_map_read(&map, lose, thread))
        put_breakpoints(thread, start, end);
}

bool tr_code_is_breakable(uint64_t address)
{
    struct tr_code_region *region = tr_code_map_find(&map, address);
    return region && !tr_process.leaves_code && may_have_breakpoints(region);
}

void tr_code_break_at(uint64_t address)
{
    tr_breakpoint_add(address, tr_code_map_find(&map, address)->protection);
}

void tr_code_mapped(struct tr_thread *thread, uint64_t start, uint64_t end)
{
    forget(thread, start, end);
}

void tr_code_mapped_shared(struct tr_thread *thread, uint64_t start, uint64_t end, int32_t file,
                           uint64_t offset)
{
    forget(thread, start, end);
    if (!map.shared_code)
        return;
    struct tr_alias alias = {start, end, offset, inode_of(file)};
    tr_code_map_add_alias(&map, &alias, lose, thread);
}

void tr_code_moved(struct tr_thread *thread, uint64_t start, uint64_t end)
{
    forget(thread, start, end);
    if (map.shared_code)
        tr_code_map_read(&map, lose, thread);
}

void tr_code_unknown(struct tr_thread *thread)
{
    map.stale = true;
    tr_code_map_read(&map, lose, thread);
}

void tr_code_seal(struct tr_thread *thread)
{
    tr_code_unknown(thread);
    map.sealed = true;
}

/* --- mprotect --- */

/* Translations stay when the code becomes writable, for its pages are protected until they are written to; not
 * where that happens often, nor where the program means to fault when it executes them. */
static bool stays(const struct tr_page *page, uint64_t protection)
{
    return !tr_process.leaves_code && (page->flags & TR_PAGE_NOTED) &&
           page->writes < WRITES_LIMIT && (protection & (PROT_WRITE | PROT_EXEC));
}

static void invalidate_pages(struct tr_thread *thread, uint64_t start, uint64_t end,
                             uint64_t protection)
{
    for (struct tr_page *page = NULL; (page = tr_page_next(&pages, page, start, end));)
        if ((page->flags & TR_PAGE_NOTED) && !stays(page, protection)) {
            tr_invalidate(thread, page->address, page->address + TR_PAGE);
            page->flags &= (uint8_t)~TR_PAGE_NOTED;
        }
}

/* The first page at or above `address` that is to stay under its translation. */
static uint64_t next_noted(uint64_t address, uint64_t end)
{
    for (struct tr_page *page = NULL; (page = tr_page_next(&pages, page, address, end));)
        if (page->flags & TR_PAGE_NOTED)
            return page->address;
    return end;
}

/* The end of the run of such pages that begins at `address`. */
static uint64_t end_of_noted(uint64_t address, uint64_t end)
{
    for (struct tr_page *page = NULL; (page = tr_page_next(&pages, page, address, end));) {
        if (page->address != address || !(page->flags & TR_PAGE_NOTED))
            break;
        address += TR_PAGE;
    }
    return address;
}

/* Everything becomes writable but the noted pages. */
static int64_t protect_in_parts(int64_t number, uint64_t start, uint64_t end, uint64_t protection,
                                uint64_t key)
{
    int64_t result = 0;
    for (uint64_t at = start; at < end && result == 0;) {
        uint64_t noted = next_noted(at, end), after = end_of_noted(noted, end);
        if (noted > at)
            result = tr_syscall6(number, at, noted - at, protection, key, 0, 0);
        if (after > noted && result == 0)
            result = tr_syscall6(number, noted, after - noted, protection & ~(uint64_t)PROT_WRITE,
                                 key, 0, 0);
        at = after;
    }
    return result;
}

/* The program's call has succeeded. */
static void set_pages(uint64_t start, uint64_t end, uint64_t protection)
{
    for (struct tr_page *page = NULL; (page = tr_page_next(&pages, page, start, end));) {
        page->protection = (uint8_t)protection;
        page->flags &= (uint8_t)~TR_PAGE_PROTECTED;
        if (!(protection & PROT_WRITE))
            continue;
        page->flags |= page->flags & TR_PAGE_NOTED ? TR_PAGE_PROTECTED : 0;
        page->flags &= page->flags & TR_PAGE_NOTED ? 0xff : (uint8_t)~TR_PAGE_CLEAN;
    }
}

/* Bytes of files become writable, or are not to be executed: they are looked at again. */
static void lose_files(struct tr_thread *thread, uint64_t start, uint64_t end)
{
    for (struct tr_code_region *region = NULL;
         (region = tr_code_map_next(&map, region, start, end));)
        if (region->used && region->source == TR_CODE_FROM_FILE)
            tr_invalidate(thread, region->start > start ? region->start : start,
                          minimum(region->end, end));
}

int64_t tr_code_mprotect(struct tr_thread *thread, int64_t number, uint64_t start, uint64_t size,
                         uint64_t protection, uint64_t key)
{
    static const uint64_t rights = PROT_READ | PROT_WRITE | PROT_EXEC;
    uint64_t end = page_of(start + size + TR_PAGE - 1);
    if (end > start && tr_own_overlaps(start, end))
        return -ENOMEM;
    if (start % TR_PAGE != 0 || end <= start || (protection & ~rights)) {
        int64_t unusual = tr_syscall6(number, start, size, protection, key, 0, 0);
        tr_code_unknown(thread);
        return unusual;
    }
    if ((protection & PROT_WRITE) || !(protection & PROT_EXEC))
        tr_breakpoints_remove(start, end);
    invalidate_pages(thread, start, end, protection);
    int64_t result = protection & PROT_WRITE
                         ? protect_in_parts(number, start, end, protection, key)
                         : tr_syscall6(number, start, size, protection, key, 0, 0);
    if (result != 0) {
        map.stale = true;
        return result;
    }
    set_pages(start, end, protection);
    note_given_back();
    if ((protection & PROT_WRITE) || !(protection & PROT_EXEC))
        lose_files(thread, start, end);
    tr_code_map_protect(&map, start, end, (uint8_t)protection);
    if ((protection & PROT_EXEC) && !(protection & PROT_WRITE) && selects(thread))
        put_breakpoints(thread, start, end);
    if (map.shared_code && (protection & PROT_WRITE))
        tr_code_map_read(&map, lose, thread);
    return result;
}
