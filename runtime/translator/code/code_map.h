/* Which executable mappings the program has: what /proc/self/maps said when it was last read, kept up to date with the
 * program's system calls. What is not known here is looked up again.
 *
 * Called by code_pages.c, under process->lock.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_CODE_MAP_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_CODE_MAP_H

#include "runtime/translator/syscalls/maps.h"
#include "runtime/translator/thread.h"

enum tr_code_source {
    TR_CODE_FROM_ANONYMOUS, /* no file that the recorder could open: anonymous, memfd, deleted */
    TR_CODE_FROM_FILE,
    TR_CODE_FROM_VDSO,
};

/* Part of a mapping that is or was executable, and none of the runtime's own. */
struct tr_code_region {
    uint64_t start, end;
    struct tr_map_line line; /* as it was read; `start` and `offset` there belong together */
    uint64_t device, inode;  /* as stat gives them; 0 until code_pages.c asks */
    uint8_t protection;      /* now */
    uint8_t source;          /* enum tr_code_source */
    bool used;               /* code there was translated */
    bool reported;           /* there is a mapping record */
    bool modified;           /* pages of it may differ from its file's */
    bool checked;            /* `modified` is known */
};

/* A writable mapping of shared memory: what is written there may be code elsewhere. */
struct tr_alias {
    uint64_t start, end;
    uint64_t offset; /* in the file, of `start` */
    uint64_t inode;  /* UINT64_MAX: not known which */
};

struct tr_code_map {
    struct tr_code_region *regions; /* by address */
    uint32_t count, capacity;
    struct tr_code_region *spare; /* memory for the next reading */
    uint32_t spare_capacity;
    struct tr_maps_text text; /* that their paths are in */
    bool stale;               /* something changed since the last reading */
    bool sealed;      /* the program has given up opening files: /proc is not read any more */
    bool shared_code; /* there is a shared region: aliases are kept */
    bool open_files;  /* there is a region of a file that descriptors may write to */
    struct tr_alias *aliases;
    uint32_t alias_count, alias_capacity;
};

/* Called for translated code that has changed or gone, or that an alias can write to now. */
typedef void tr_code_lost(void *context, uint64_t start, uint64_t end);

/* The region at `address`; NULL: unknown. Valid until the map changes. */
struct tr_code_region *tr_code_map_find(struct tr_code_map *map, uint64_t address);

/* The next region that overlaps [start, end) after `region`, the first one after NULL; NULL at the end. */
struct tr_code_region *tr_code_map_next(struct tr_code_map *map,
                                        const struct tr_code_region *region, uint64_t start,
                                        uint64_t end);

/* Reads /proc/self/maps. False: it cannot be read (the map is as it was), or there is no memory for all of it. */
bool tr_code_map_read(struct tr_code_map *map, tr_code_lost *lost, void *context);

/* A writable mapping of shared memory was made. */
void tr_code_map_add_alias(struct tr_code_map *map, const struct tr_alias *alias,
                           tr_code_lost *lost, void *context);

/* The content of the file, UINT64_MAX: of any, has changed by a descriptor. `named`: it may be one with a name that is mapped privately, too. */
void tr_code_map_file_written(struct tr_code_map *map, uint64_t inode, bool named,
                              tr_code_lost *lost, void *context);

/* Whether the bytes in [start, end), of the region, can be written to by an alias. */
bool tr_code_map_is_aliased(const struct tr_code_map *map, const struct tr_code_region *region,
                            uint64_t start, uint64_t end);

/* Forgets what is known of [start, end). Returns whether code there was translated. */
bool tr_code_map_forget(struct tr_code_map *map, uint64_t start, uint64_t end);

/* What is known of [start, end) has this protection now. */
void tr_code_map_protect(struct tr_code_map *map, uint64_t start, uint64_t end, uint8_t protection);

#endif
