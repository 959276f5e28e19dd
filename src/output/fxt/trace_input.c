#include "output/fxt/trace_input.h"

#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <isa-l/igzip_lib.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BUFFER_SIZE = 256 << 10, /* stays in the cache until it is parsed */
    FILE_BUFFER_SIZE = 64 << 10,
};

struct trace_input {
    char *path;
    int descriptor;
    uint64_t offset; /* of buffer[begin] in the decompressed trace */
    size_t begin, end;
    bool ended;            /* the file has no more bytes than the buffer */
    struct error ended_by; /* why, if it was not the end of the file */

    bool gzip;
    bool in_member; /* a gzip member has begun and not ended */
    struct inflate_state inflate;
    uint8_t file_buffer[FILE_BUFFER_SIZE]; /* compressed bytes; inflate.next_in points into it */
    alignas(8) uint8_t buffer[BUFFER_SIZE];
};

/* -1 and error_set on failure; 0 at the end. */
static ssize_t read_file(struct trace_input *input, void *bytes, size_t size)
{
    for (;;) {
        ssize_t got = read(input->descriptor, bytes, size);
        if (got >= 0)
            return got;
        if (errno != EINTR) {
            error_set_errno(&input->ended_by, ERROR_IO, errno, "cannot read %s", input->path);
            return -1;
        }
    }
}

struct trace_input *trace_input_open(const char *path, struct error *error)
{
    int descriptor = file_open_input(path, error);
    if (descriptor < 0)
        return NULL;
    struct stat status;
    if (fstat(descriptor, &status) != 0 || S_ISDIR(status.st_mode)) {
        error_set(error, ERROR_FORMAT, "%s is a folder, not a trace file", path);
        close(descriptor);
        return NULL;
    }
    struct trace_input *input = memory_allocate_zeroed(sizeof *input);
    input->path = memory_copy_string(path);
    input->descriptor = descriptor;
    if ((!S_ISREG(status.st_mode) && !file_spool(descriptor, path, error)) ||
        !trace_input_rewind(input, error)) {
        trace_input_close(input);
        return NULL;
    }
    return input;
}

void trace_input_close(struct trace_input *input)
{
    close(input->descriptor);
    free(input->path);
    free(input);
}

bool trace_input_rewind(struct trace_input *input, struct error *error)
{
    uint8_t magic[2];
    ssize_t got = pread(input->descriptor, magic, sizeof magic, 0);
    if (got < 0 || lseek(input->descriptor, 0, SEEK_SET) != 0)
        return error_set_errno(error, ERROR_IO, errno, "cannot read %s", input->path);
    input->gzip = got == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
    input->in_member = false;
    isal_inflate_init(&input->inflate);
    input->inflate.crc_flag = ISAL_GZIP;
    input->offset = input->begin = input->end = 0;
    input->ended = false;
    input->ended_by = (struct error){0};
    return true;
}

/* Makes compressed bytes available; false at the end of the file or when it cannot be read. */
static bool refill_compressed(struct trace_input *input)
{
    if (input->inflate.avail_in > 0)
        return true;
    ssize_t got = read_file(input, input->file_buffer, FILE_BUFFER_SIZE);
    if (got <= 0)
        return false;
    input->inflate.next_in = input->file_buffer;
    input->inflate.avail_in = (uint32_t)got;
    return true;
}

/* The bytes end within a gzip member. */
static void end_in_member(struct trace_input *input)
{
    if (input->ended_by.code == ERROR_NONE)
        error_set(&input->ended_by, ERROR_FORMAT,
                  "%s is cut off: its gzip data ends too early. The trace was probably still being "
                  "written, or copied in part",
                  input->path);
    input->ended = true;
}

/* Inflates once. `more` says whether there is input; without, what is left inside the inflater
 * comes out. */
static void inflate_some(struct trace_input *input, bool more)
{
    struct inflate_state *inflate = &input->inflate;
    uint32_t room = inflate->avail_out;
    input->in_member = true;
    int result = isal_inflate(inflate);
    if (result != ISAL_DECOMP_OK && result != ISAL_END_INPUT) {
        uint64_t position = input->offset + BUFFER_SIZE - inflate->avail_out - input->begin;
        error_set(&input->ended_by, ERROR_FORMAT,
                  "%s is damaged: its gzip data is wrong after byte %llu of the uncompressed trace",
                  input->path, (unsigned long long)position);
        input->ended = true;
    } else if (inflate->block_state == ISAL_BLOCK_FINISH) {
        isal_inflate_reset(inflate); /* keeps the buffers: the next member may follow */
        input->in_member = false;
    } else if (!more && inflate->avail_out == room) {
        end_in_member(input);
    }
}

static void fill_inflated(struct trace_input *input)
{
    struct inflate_state *inflate = &input->inflate;
    inflate->next_out = input->buffer + input->end;
    inflate->avail_out = (uint32_t)(BUFFER_SIZE - input->end);
    while (!input->ended && inflate->avail_out > 0) {
        bool more = refill_compressed(input);
        if (more || input->in_member)
            inflate_some(input, more);
        else
            input->ended = true;
    }
    input->end = BUFFER_SIZE - inflate->avail_out;
}

static void fill_plain(struct trace_input *input)
{
    while (!input->ended && input->end < BUFFER_SIZE) {
        ssize_t got = read_file(input, input->buffer + input->end, BUFFER_SIZE - input->end);
        if (got <= 0)
            input->ended = true;
        else
            input->end += (size_t)got;
    }
}

static void fill(struct trace_input *input)
{
    memmove(input->buffer, input->buffer + input->begin, input->end - input->begin);
    input->end -= input->begin;
    input->begin = 0;
    if (input->gzip)
        fill_inflated(input);
    else
        fill_plain(input);
}

struct trace_bytes trace_input_look(struct trace_input *input, size_t least)
{
    if (input->end - input->begin < least && !input->ended)
        fill(input);
    return (struct trace_bytes){input->buffer + input->begin, input->end - input->begin};
}

void trace_input_advance(struct trace_input *input, size_t size)
{
    input->begin += size;
    input->offset += size;
}

const struct error *trace_input_ended_by(const struct trace_input *input)
{
    return &input->ended_by;
}

uint64_t trace_input_offset(const struct trace_input *input)
{
    return input->offset;
}

const char *trace_input_path(const struct trace_input *input)
{
    return input->path;
}
