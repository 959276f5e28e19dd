#include "output/block_writer.h"

#include "base/file.h"
#include "base/memory.h"
#include "output/gzip_encoder.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
    BLOCK_SIZE = 1 << 20,
    BLOCK_COUNT = 4,
};

struct block {
    uint8_t *bytes; /* BLOCK_SIZE of them; owned */
    size_t used;
    bool last;
};

/* A ring of blocks. Block number n lies in blocks[n % BLOCK_COUNT]; the blocks from `written` to
 * `filled` wait for the thread, and block `filled` is being filled. */
struct block_pipe {
    pthread_t thread;
    pthread_mutex_t mutex; /* guards filled and written */
    pthread_cond_t changed;
    struct block blocks[BLOCK_COUNT];
    uint64_t filled, written;

    int descriptor;
    const char *path;
    struct gzip_encoder *gzip; /* NULL: as it is */
    atomic_bool failed;
    struct error error; /* the thread's until it has ended */
};

static bool write_block(struct block_pipe *pipe, const struct block *block)
{
    if (pipe->gzip)
        return gzip_encoder_write(pipe->gzip, block->bytes, block->used, block->last,
                                  pipe->descriptor, pipe->path, &pipe->error);
    return file_write_all(pipe->descriptor, block->bytes, block->used, pipe->path, &pipe->error);
}

static void *write_blocks(void *context)
{
    struct block_pipe *pipe = context;
    for (bool last = false; !last;) {
        pthread_mutex_lock(&pipe->mutex);
        while (pipe->written == pipe->filled)
            pthread_cond_wait(&pipe->changed, &pipe->mutex);
        const struct block *block = &pipe->blocks[pipe->written % BLOCK_COUNT];
        pthread_mutex_unlock(&pipe->mutex);

        last = block->last;
        if (!pipe->failed && !write_block(pipe, block))
            pipe->failed = true;

        pthread_mutex_lock(&pipe->mutex);
        pipe->written++;
        pthread_cond_signal(&pipe->changed);
        pthread_mutex_unlock(&pipe->mutex);
    }
    return NULL;
}

static void free_pipe(struct block_pipe *pipe)
{
    pthread_cond_destroy(&pipe->changed);
    pthread_mutex_destroy(&pipe->mutex);
    for (size_t i = 0; i < BLOCK_COUNT; i++)
        free(pipe->blocks[i].bytes);
    gzip_encoder_free(pipe->gzip);
    free(pipe);
}

static void fill_from_start(struct block_writer *writer, const struct block *block)
{
    writer->next = block->bytes;
    writer->end = block->bytes + BLOCK_SIZE;
}

bool block_writer_open(struct block_writer *writer, int descriptor, const char *path, bool gzip,
                       struct error *error)
{
    struct block_pipe *pipe = memory_allocate_zeroed(sizeof *pipe);
    pipe->descriptor = descriptor;
    pipe->path = path;
    pipe->gzip = gzip ? gzip_encoder_new() : NULL;
    pthread_mutex_init(&pipe->mutex, NULL);
    pthread_cond_init(&pipe->changed, NULL);
    for (size_t i = 0; i < BLOCK_COUNT; i++)
        pipe->blocks[i].bytes = memory_allocate(BLOCK_SIZE);
    int errnum = pthread_create(&pipe->thread, NULL, write_blocks, pipe);
    if (errnum != 0) {
        free_pipe(pipe);
        return error_set_errno(error, ERROR_IO, errnum, "cannot start a thread to write %s", path);
    }
    writer->pipe = pipe;
    fill_from_start(writer, &pipe->blocks[0]);
    return true;
}

static void hand_over(struct block_writer *writer, bool last)
{
    struct block_pipe *pipe = writer->pipe;
    struct block *block = &pipe->blocks[pipe->filled % BLOCK_COUNT];
    block->used = (size_t)(writer->next - block->bytes);
    block->last = last;
    pthread_mutex_lock(&pipe->mutex);
    pipe->filled++;
    pthread_cond_signal(&pipe->changed);
    while (!last && pipe->filled - pipe->written == BLOCK_COUNT)
        pthread_cond_wait(&pipe->changed, &pipe->mutex);
    pthread_mutex_unlock(&pipe->mutex);
}

void block_writer_next_block(struct block_writer *writer)
{
    hand_over(writer, false);
    fill_from_start(writer, &writer->pipe->blocks[writer->pipe->filled % BLOCK_COUNT]);
}

bool block_writer_failed(const struct block_writer *writer)
{
    return writer->pipe->failed;
}

bool block_writer_finish(struct block_writer *writer, struct error *error)
{
    struct block_pipe *pipe = writer->pipe;
    hand_over(writer, true);
    pthread_join(pipe->thread, NULL);
    bool ok = !pipe->failed;
    if (!ok && error)
        *error = pipe->error;
    free_pipe(pipe);
    *writer = (struct block_writer){0};
    return ok;
}
