#include "decode/text/text_flow.h"

#include "base/file.h"
#include "base/memory.h"
#include "decode/text/text_frequencies.h"
#include "decode/text/text_samples.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uthash.h>

enum {
    /* If a file is text, it has a record within this many bytes. */
    HEAD_SIZE = 64 << 10,
    RECORDS_PER_PROGRESS = 1 << 14,
};

struct text_process {
    uint32_t pid;
    struct text_code *code; /* owned */
    UT_hash_handle hh;
};

struct thread_key {
    uint32_t pid, tid;
};

struct flow_thread {
    struct thread_key key;
    struct thread described;
    struct text_thread thread;
    struct text_samples samples;
    char *name; /* owned; NULL: not printed */
    UT_hash_handle hh;
};

struct text_flow {
    char *path;
    struct file_view view;
    struct symbols *symbols;        /* borrowed */
    const char *perf_map_directory; /* borrowed; NULL: none */
    struct text_functions *functions;
    struct text_process *processes; /* owned, by pid */
    struct text_process *newest_process;
    struct flow_thread *threads; /* owned, by pid and tid */
    struct flow_thread *newest_thread;
    struct text_frequencies frequencies;
    const struct flow_sink *sink; /* set while decoding */
    function_id samples;          /* "[samples]"; FUNCTION_UNKNOWN before the first sample */
    bool has_branches;
};

/* ---- opening ---- */

static bool has_record(const char *bytes, size_t size)
{
    struct perf_text text;
    struct perf_text_record record;
    perf_text_open(&text, (struct text_slice){bytes, size});
    bool has = perf_text_next(&text, &record);
    perf_text_close(&text);
    return has;
}

static bool begins_with_record(const char *path)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return false;
    char *head = memory_allocate(HEAD_SIZE);
    ssize_t got = read(descriptor, head, HEAD_SIZE);
    bool is = got > 0 && has_record(head, (size_t)got);
    free(head);
    close(descriptor);
    return is;
}

bool text_flow_recognizes(const char *path)
{
    struct stat status;
    if (strcmp(path, "-") == 0)
        return true;
    if (stat(path, &status) != 0 || S_ISDIR(status.st_mode))
        return false;
    return S_ISFIFO(status.st_mode) || (S_ISREG(status.st_mode) && begins_with_record(path));
}

struct text_flow *text_flow_open(struct file_view view, const char *path, struct symbols *symbols,
                                 const char *perf_map_directory)
{
    struct text_flow *text = memory_allocate_zeroed(sizeof(*text));
    text->path = memory_copy_string(path);
    text->view = view;
    text->symbols = symbols;
    text->perf_map_directory = perf_map_directory;
    text->functions = text_functions_open(symbols);
    return text;
}

static void free_threads(struct text_flow *text)
{
    struct flow_thread *thread, *next;
    HASH_ITER(hh, text->threads, thread, next)
    {
        HASH_DEL(text->threads, thread);
        text_samples_free(&thread->samples);
        free(thread->name);
        free(thread);
    }
}

void text_flow_close(struct text_flow *text)
{
    struct text_process *process, *next;
    free_threads(text);
    HASH_ITER(hh, text->processes, process, next)
    {
        HASH_DEL(text->processes, process);
        text_code_close(process->code);
        free(process);
    }
    text_frequencies_free(&text->frequencies);
    text_functions_close(text->functions);
    file_unmap(&text->view);
    free(text->path);
    free(text);
}

/* ---- processes and threads ---- */

static struct text_process *find_process(const struct text_flow *text, uint32_t pid)
{
    struct text_process *found;
    HASH_FIND(hh, text->processes, &pid, sizeof pid, found);
    return found;
}

static struct text_code *get_code(struct text_flow *text, uint32_t pid)
{
    if (text->newest_process && text->newest_process->pid == pid)
        return text->newest_process->code;
    struct text_process *process = find_process(text, pid);
    if (!process) {
        process = memory_allocate_zeroed(sizeof(*process));
        process->pid = pid;
        process->code = text_code_open(text->functions, pid, text->perf_map_directory);
        HASH_ADD(hh, text->processes, pid, sizeof process->pid, process);
    }
    text->newest_process = process;
    return process->code;
}

const struct text_code *text_flow_code(const struct text_flow *text, uint32_t pid)
{
    struct text_process *process = find_process(text, pid);
    return process ? process->code : NULL;
}

void text_flow_marks(const struct text_flow *text, struct array *marks)
{
    text_frequencies_report(&text->frequencies, marks);
}

static struct flow_thread *add_thread(struct text_flow *text, struct thread_key key,
                                      struct text_slice program)
{
    struct flow_thread *thread = memory_allocate_zeroed(sizeof(*thread));
    thread->key = key;
    thread->name = program.size > 0 ? text_copy_name(program) : NULL;
    thread->described = (struct thread){
        .pid = key.pid, .tid = key.tid, .name = thread->name ? thread->name : "[unnamed]"};
    text_thread_begin(&thread->thread, &thread->described, get_code(text, key.pid), text->sink);
    text_samples_init(&thread->samples, text->samples);
    HASH_ADD(hh, text->threads, key, sizeof thread->key, thread);
    return thread;
}

static struct flow_thread *get_thread(struct text_flow *text, const struct perf_text_record *record)
{
    struct thread_key key = {record->pid, record->tid};
    struct flow_thread *thread = text->newest_thread;
    if (thread && thread->key.pid == key.pid && thread->key.tid == key.tid)
        return thread;
    HASH_FIND(hh, text->threads, &key, sizeof key, thread);
    if (!thread)
        thread = add_thread(text, key, record->program);
    return text->newest_thread = thread;
}

/* ---- decoding ---- */

struct reading {
    struct perf_text text;
    const struct flow_options *options;
    uint64_t size;   /* of the file */
    uint64_t before; /* bytes read by the earlier pass */
    uint64_t records;
};

static struct reading begin_reading(const struct text_flow *text,
                                    const struct flow_options *options, unsigned pass)
{
    struct reading reading = {
        .options = options, .size = text->view.size, .before = pass * text->view.size};
    perf_text_open(&reading.text,
                   (struct text_slice){(const char *)text->view.bytes, text->view.size});
    return reading;
}

static bool read_next(struct reading *reading, struct perf_text_record *record)
{
    if (reading->records++ % RECORDS_PER_PROGRESS == 0 && reading->options->progress)
        reading->options->progress("Decoding",
                                   reading->before + reading->size - text_left(&reading->text.rest),
                                   2 * reading->size);
    return perf_text_next(&reading->text, record);
}

static void learn(struct text_flow *text, const struct flow_options *options)
{
    struct reading reading = begin_reading(text, options, 0);
    struct perf_text_record record;
    while (read_next(&reading, &record)) {
        if (record.kind != PERF_TEXT_BRANCH)
            continue;
        text->has_branches = true;
        if (record.branch.kind == PERF_TEXT_RETURN)
            text_code_note_return(get_code(text, record.pid), record.to.address);
    }
    perf_text_close(&reading.text);
}

/* Beside a trace of all branches samples add nothing. */
static void follow_sample(struct text_flow *text, const struct perf_text_record *record)
{
    if (text->has_branches)
        return;
    if (text->samples == FUNCTION_UNKNOWN)
        text->samples = symbols_add(text->symbols, "[samples]", NULL, NULL);
    struct flow_thread *thread = get_thread(text, record);
    text_samples_change(&thread->samples, &thread->thread, record);
}

static void follow_record(struct text_flow *text, const struct perf_text_record *record)
{
    switch (record->kind) {
    case PERF_TEXT_BRANCH:
        text_thread_branch(&get_thread(text, record)->thread, record);
        break;
    case PERF_TEXT_SAMPLE:
        follow_sample(text, record);
        break;
    case PERF_TEXT_DECODE_ERROR:
        /* Without a known thread there is no place to show the error. */
        if (record->tid != PERF_TEXT_NOBODY)
            text_thread_error(&get_thread(text, record)->thread, record);
        break;
    case PERF_TEXT_FREQUENCY:
        text_frequencies_note(&text->frequencies, record);
        break;
    }
}

static void end_threads(struct text_flow *text, struct flow_statistics *statistics)
{
    struct flow_thread *thread, *next;
    HASH_ITER(hh, text->threads, thread, next)
    text_thread_end(&thread->thread, statistics);
}

static bool check_contents(const struct text_flow *text, const struct perf_text_statistics *read,
                           struct error *error)
{
    if (read->branches || read->samples)
        return true;
    return error_set(error, ERROR_FORMAT,
                     "Decoding %s failed: no line of it is a branch or a sample as perf script "
                     "prints them. Make it with `perf script --ns --itrace=bep -F "
                     "pid,tid,time,flags,ip,addr,sym,symoff,synth,dso,event,period`.%s",
                     text->path,
                     strcmp(text->path, "standard input") == 0
                         ? " A trace (trace.fxt.gz) is read from /dev/stdin."
                         : "");
}

bool text_flow_decode(struct text_flow *text, const struct flow_options *options,
                      const struct flow_sink *sink, struct flow_statistics *statistics,
                      struct error *error)
{
    text->sink = sink;
    learn(text, options);
    struct reading reading = begin_reading(text, options, 1);
    struct perf_text_record record;
    while (read_next(&reading, &record))
        follow_record(text, &record);
    end_threads(text, statistics);
    statistics->bytes = text->view.size;
    statistics->text = reading.text.statistics;
    statistics->text_lines = reading.text.line;
    perf_text_close(&reading.text);
    return check_contents(text, &statistics->text, error);
}
