#include "engine/translator/kept_mappings.h"

#include "base/file.h"
#include "engine/packets/kept_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

struct keeping {
    const struct translator_arena *arena;
    const char *directory;
    struct seen_files *seen;
    bool only_foreign;
};

/* ---- our files ---- */

/* What the runtime copied of the file when its code ran; a damaged arena may say anything. */
static bool store_dumped(const struct keeping *keeping, const struct logged_mapping *mapping)
{
    const struct translator_arena *arena = keeping->arena;
    uint64_t whole = arena->geometry.dump_size;
    for (unsigned i = 0; i < TR_KEPT_FILES; i++) {
        const struct tr_kept_file *file = &arena->control->kept_files[i];
        if (atomic_load(&file->version) == mapping->version && file->inode == mapping->inode &&
            file->offset <= whole && file->size <= whole - file->offset)
            return kept_file_store(keeping->directory, mapping->path, mapping->version,
                                   arena->bytes + arena->geometry.dump_offset + file->offset,
                                   file->size);
    }
    return false;
}

/* The version of the file that is in the recording from now on; 0: none. */
static uint64_t keep_ours(const struct keeping *keeping, const struct logged_mapping *mapping)
{
    uint64_t ran = mapping->version,
             kept = kept_file_copy(keeping->directory, mapping->path, mapping->inode);
    return ran && kept != ran && store_dumped(keeping, mapping) ? ran : kept;
}

/* ---- files of containers ---- */

static bool is_mapped(const struct logged_mapping *mapping, const struct stat *status)
{
    return status->st_ino == mapping->inode &&
           status->st_dev == makedev(mapping->device_major, mapping->device_minor);
}

/* On these, mappings have other devices than stat says, and on overlayfs (of Linux before 6.9) other inodes, too: there the file counts as
 * the one that is mapped if nobody has changed it or put it there since the recording began. */
static bool is_mapped_of_layers(const struct keeping *keeping, int file, const struct stat *status,
                                const struct logged_mapping *mapping)
{
    struct statfs system;
    if (fstatfs(file, &system) != 0)
        return false;
    uint64_t changed =
        (uint64_t)status->st_ctim.tv_sec * 1000000000 + (uint64_t)status->st_ctim.tv_nsec;
    if (system.f_type == OVERLAYFS_SUPER_MAGIC)
        return status->st_ino == mapping->inode ||
               changed <= keeping->arena->options.start_realtime_ns;
    return system.f_type == BTRFS_SUPER_MAGIC && status->st_ino == mapping->inode;
}

/* The mapped file as the process sees it; -1: it cannot be opened, or another one is there. */
static int open_theirs(const struct keeping *keeping, const struct seen_by *by,
                       const struct logged_mapping *mapping)
{
    struct stat status;
    int file = process_files_open(&by->files, mapping->path);
    if (file >= 0 && fstat(file, &status) == 0 &&
        (is_mapped(mapping, &status) || is_mapped_of_layers(keeping, file, &status, mapping)))
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

/* Whether what has the mapping's path here is the mapped file: `theirs`, or -1. */
static bool is_ours(const struct logged_mapping *mapping, int theirs)
{
    struct stat here, there;
    if (stat(mapping->path, &here) != 0)
        return false;
    if (theirs < 0 || fstat(theirs, &there) != 0)
        return is_mapped(mapping, &here);
    return file_is_same(&here, &there);
}

/* Whether the file is a container's. */
static bool keep_foreign(const struct keeping *keeping, struct logged_mapping *mapping)
{
    const struct seen_by *by = seen_files_of(keeping->seen, mapping->record.pid);
    if (!by || !by->foreign || mapping->path[0] != '/')
        return false;
    int theirs = open_theirs(keeping, by, mapping);
    mapping->foreign = !is_ours(mapping, theirs);
    if (mapping->foreign) {
        uint64_t ran = mapping->version,
                 kept = theirs >= 0 ? kept_file_copy_open(keeping->directory, mapping->path, theirs)
                                    : 0;
        mapping->version = ran && kept != ran && store_dumped(keeping, mapping) ? ran : kept;
    }
    if (theirs >= 0)
        close(theirs);
    return mapping->foreign;
}

/* ---- both ---- */

static void keep_mapping(const struct keeping *keeping, struct logged_mapping *mapping)
{
    if (mapping->jit)
        return;
    if (mapping->foreign)
        seen_files_add_unreachable(keeping->seen, mapping->record.pid);
    if (mapping->foreign && mapping->version)
        return; /* when it was attached to */
    if (!keep_foreign(keeping, mapping) && !keeping->only_foreign)
        mapping->version = keep_ours(keeping, mapping);
}

static void keep_all(const struct keeping *keeping)
{
    struct log_reader reader = translator_arena_sideband(keeping->arena);
    for (const struct logged_record *record; (record = log_reader_next(&reader));) {
        if (record->kind == LOGGED_FORK)
            seen_files_add_child(keeping->seen, record->pid,
                                 ((const struct logged_fork *)record)->parent_pid);
        if (record->kind == LOGGED_MAPPING)
            keep_mapping(keeping, (struct logged_mapping *)record);
    }
}

void kept_mappings_begin(const struct translator_arena *arena, const char *directory,
                         struct seen_files *seen)
{
    keep_all(&(struct keeping){arena, directory, seen, true});
}

void kept_mappings_finish(const struct translator_arena *arena, const char *directory,
                          struct seen_files *seen)
{
    keep_all(&(struct keeping){arena, directory, seen, false});
}
