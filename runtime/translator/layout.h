/* What the translator's runtime, which lives in the traced processes, and the recorder share: one sparse file that
 * both map, the arena.
 *
 *     DIR/translator/arena    struct tr_control (options, counters, trigger state, requests)
 *                             the runtime's image, which each process copies into its own memory
 *                             the selected functions (-only)
 *                             the sideband log (records of engine/packets/sideband_layout.h)
 *                             fragment tables, one per traced address space
 *                             slots, one per traced thread: struct tr_slot and its log ring
 *                             code dumps: bytes of code that is in no file (JIT)
 *
 * The recorder makes the file and maps all of it; each traced process maps all of it, once, when the runtime is
 * injected at its exec, and opens nothing afterwards (a program may chroot, change its user, or forbid itself system
 * calls). Processes made by fork inherit the mapping. Regions are mapped PROT_NONE until they are used, so that
 * mlockall locks little. The file outlives all processes: what a killed program had logged is there, and
 * `magic-trace decode DIR` can finish the recording after magic-trace itself was killed.
 *
 * All fields are little-endian native; both sides are built together and check `version`. Data is written before the
 * counter or magic word that makes it visible.
 *
 * Times are ticks of the recording's clock (clock_state.h): the TSC less what the runtime itself used up, or the raw TSC
 * with RECORD_CLOCK_HOST.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_LAYOUT_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_LAYOUT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    TR_VERSION = 8,
    TR_PAGE = 4096,
    TR_CONTROL_MAGIC = 0x4352544d, /* "MTRC" */
    TR_SLOT_MAGIC = 0x534c544d,    /* "MTLS" */
    TR_TABLE_MAGIC = 0x5446544d,   /* "MTFT" */
    TR_TRIGGER_PLACES = 64,        /* TRIGGER_PLACES of engine/trigger/trigger.h */
    TR_VALUE_PLACES = 1024,        /* CALL_VALUE_PLACES of engine/call_values.h */
    TR_VALUE_STEPS = 8192,         /* of all places */
    TR_VALUE_WORDS = 255,          /* 64-bit words of one TR_VALUES record */
    TR_REQUESTS = 64,              /* exec requests that may wait at the same time */
    TR_MOST_SLOTS = 4096,
    TR_MOST_TABLES = 2048,
    TR_KEPT_FILES = 256,
    /* entries; a power of two: of the last third of a second where many processes begin on a busy machine */
    TR_CLOCK_HISTORY = 1 << 16,
    TR_CHUNKS = 32, /* a ring is divided into so many chunks */
    TR_LOG_PER_PACKETS =
        8, /* how many times as large a log can be as the packets that are made from it */
    /* in the arena: of the runtime's image; struct tr_control lies before it */
    TR_IMAGE_OFFSET = 2 << 20,
    TR_IMAGE_LIMIT = 1 << 20,      /* bytes; the selected functions follow, then the sideband log */
    TR_DUMP_SPAN = 1 << 18,        /* bytes of the dump area that become one file */
    TR_RECORDER_DIED = 0x40000000, /* FUTEX_OWNER_DIED */
};

/* ---- options: written by the recorder before any program starts ---- */

struct tr_trigger_place {
    uint64_t device, inode; /* of the file, as stat gives them */
    uint64_t file_offset;
};

/* How to get one value of a call (-args). Each step appends 64-bit words to the record. */
enum tr_value_source {
    TR_VALUE_REGISTER, /* general register `number` (enum tr_register of thread.h): one word */
    TR_VALUE_VECTOR,   /* the low `size` bytes, 8 or 16, of xmm register `number`: as many words */
    TR_VALUE_STACK, /* `size` bytes at `offset` above the return address: as many words as they need; zeros where nothing
                       can be read */
    TR_VALUE_MEMORY, /* `size` bytes at the address that step `number` of this record has recorded `offset` bytes into it:
                        a word with how many of them could be read, then these */
    TR_VALUE_STRING, /* likewise, but only up to a 0, which is left out; plus TR_VALUE_CUT when no 0 came */
};

#define TR_VALUE_CUT (UINT64_C(1) << 63)

struct tr_value_step {
    uint8_t source; /* enum tr_value_source */
    uint8_t number;
    uint16_t size; /* bytes */
    int32_t offset;
};

/* A function whose arguments and results are recorded. */
struct tr_value_place {
    struct tr_trigger_place place; /* its first instruction */
    uint16_t first;                /* of its steps: those of its arguments */
    uint8_t arguments,
        results; /* how many; results follow. 0 results: its returns are not looked at */
    uint32_t reserved;
};

struct tr_options {
    uint32_t clock; /* enum record_clock (engine/engine.h) */
    /* bool: rings are drained while the program runs, and writers wait for the reader */
    uint32_t full_execution;
    uint32_t multi_thread; /* bool */
    uint32_t follow;       /* bool: processes that the program starts are traced, too */
    uint32_t hold_inputs;  /* bool: random numbers and time() are the same in every run */
    /* bytes of log per thread; a power of two, at least 256 KiB; 4 MiB where rings are drained */
    uint64_t ring_size;
    uint64_t snapshot_size; /* bytes of packets before a snapshot that belong to it */
    uint64_t tsc_hz;        /* TSC ticks per second */
    uint64_t stamp_ticks;   /* TSC ticks between time stamps, about */
    uint32_t bus_ratio;     /* for CBR packets: TSC MHz / 100 */
    uint32_t lossless;      /* bool: with full_execution: wait for the reader; else leave gaps */
    /* The same instant in three clocks, taken before the program started. */
    uint64_t start_tsc, start_monotonic_ns, start_realtime_ns;

    /* The trigger (struct trigger of engine/trigger/trigger.h); times in ticks. */
    uint32_t place_count;                                 /* 0: no trigger */
    uint32_t passes_time, multi_snapshot, immediate_stop; /* bool */
    uint32_t on_cpu; /* bool: see longer_than; of duration_threshold likewise */
    /* bool: the processes ran before the recording, and are to run after it: threads leave when the recorder has died */
    uint32_t attached;
    uint64_t duration_threshold, delay_threshold; /* 0: none */
    /* not 0: hits are the ends of the calls that begin at the places, and count when a call has lasted longer; with
     * on_cpu longer on a processor */
    uint64_t longer_than;
    struct tr_trigger_place places[TR_TRIGGER_PLACES]; /* by file_offset */
    uint32_t until_count; /* the recording ends where a thread arrives at one of them */
    uint32_t start_count; /* with on_cpu: where programs note the time that they pass later */
    struct tr_trigger_place until_places[TR_TRIGGER_PLACES];
    struct tr_trigger_place start_places[TR_TRIGGER_PLACES];

    /* -only: how many struct tr_trigger_place lie at selected_offset of struct tr_control, by inode and file_offset: first
     * instructions of functions. What they do is recorded, and what they call; all else runs natively. 0: all is recorded. */
    uint32_t selected_count;
    uint32_t value_place_count, value_step_count;
    struct tr_value_place value_places[TR_VALUE_PLACES]; /* by file_offset */
    struct tr_value_step value_steps[TR_VALUE_STEPS];
};

/* ---- control: at offset 0 of the arena ---- */

/* A traced process is about to call execve and asks the recorder to be its tracer at the new program's exec stop.
 *
 * The process asks only for files whose execution a tracer does not change: never for setuid and setgid programs and
 * such with file capabilities, which lose their privileges under a tracer, nor for files that are not there.
 * After each change to MADE or FAILED it adds 1 to tr_control.requested and wakes the recorder there. The recorder wakes
 * the process at `state`. No futex is private. When the recorder dies, or its heartbeat stands still for a second while
 * the process waits, it calls execve untraced. */
enum tr_request_state {
    TR_REQUEST_FREE,
    TR_REQUEST_MADE, /* by the process: all fields are set */
    TR_REQUEST_GRANTED, /* by the recorder: it is attached (PTRACE_SEIZE, PTRACE_O_TRACEEXEC); call execve */
    TR_REQUEST_REFUSED, /* by the recorder: it cannot attach; free the request, call execve untraced */
    TR_REQUEST_FAILED, /* by the process: execve returned. It waits until the recorder, which stops the thread for a
                           moment to let go, has freed the request */
    TR_REQUEST_TAKEN, /* by the process, from FREE by compare-exchange: it fills in the fields */
};

struct tr_request {
    _Atomic uint32_t state; /* also the futex word that the process waits on */
    /* of the thread that calls execve, as getpid and gettid return them: perhaps numbers of another pid namespace
     * than the recorder's */
    uint32_t pid, tid;
    uint32_t reserved;
    uint64_t time; /* TSC */
    /* Two places in the process by which the recorder knows that a process is the one that asks. */
    uint64_t cookie_address; /* in its own memory: there stands `time`, too */
    uint64_t nonce_address;  /* of `nonce` below, as the process has mapped the arena */
    uint64_t nonce;          /* set by the recorder, before it looks */
};

struct tr_control {
    uint32_t magic;   /* TR_CONTROL_MAGIC */
    uint32_t version; /* TR_VERSION */
    struct tr_options options;

    /* Where things lie in the arena: offsets and sizes in bytes, multiples of TR_PAGE. */
    uint64_t arena_size;
    uint64_t selected_offset;          /* see options.selected_count */
    uint64_t log_offset, log_size;     /* the sideband log */
    uint64_t table_offset, table_size; /* the first fragment table, and the size of each */
    /* the first slot, and the size of each: TR_SLOT_RING + ring_size + TR_SLOT_GUARD */
    uint64_t slot_offset, slot_size;
    uint64_t dump_offset, dump_size;  /* code dumps */
    uint32_t table_count, slot_count; /* as many as there is room for */

    /* Set by the recorder, or by a thread that hits the trigger: threads leave the translator and go on natively. */
    _Atomic uint32_t frozen;
    _Atomic uint64_t frozen_at; /* when, in ticks; 0 before */
    /* Counts up several times a second while the recorder runs (not while it is stopped); `recorder_stopped` when it has
     * ended in order. */
    _Atomic uint32_t heartbeat, recorder_stopped;
    /* A robust futex that a thread of the recorder holds: when it dies, the kernel sets
     * TR_RECORDER_DIED. 0: it did not register. */
    _Atomic uint32_t recorder;
    /* Heartbeat + 1 when a process waited without success for an answer to a request: no process asks
     * again before it has moved. */
    _Atomic uint32_t unanswered;
    /* Counts requests made and failed: the futex word on which the recorder waits. */
    _Atomic uint32_t requested;

    /* See reservation.h. */
    _Atomic uint32_t next_slot, next_table;
    _Atomic uint64_t free_slots[TR_MOST_SLOTS / 64], free_tables[TR_MOST_TABLES / 64];
    /* Set when a process begins, enters or is in another pid namespace: the numbers in slots and tables may be of another
     * one than the recorder's. */
    _Atomic uint32_t has_namespaces;
    _Atomic uint64_t log_tail;  /* bytes of the sideband log handed out */
    _Atomic uint64_t dump_tail; /* bytes of code dumps handed out */
    /* Copies of files in the dump area (file_dump.h). `version` is set last; 0: none yet. */
    struct tr_kept_file {
        _Atomic uint64_t version;
        uint64_t inode, offset, size;
    } kept_files[TR_KEPT_FILES];
    _Atomic uint32_t kept_count;
    _Atomic uint64_t lost_records, lost_dumps; /* for want of room */
    _Atomic uint64_t lost_slots, lost_tables;  /* threads and processes: all were in use */
    _Atomic uint64_t lost_threads;             /* for want of disk space */

    _Atomic uint64_t clock;  /* see clock_state.h */
    _Atomic uint64_t stolen; /* TSC ticks that the runtime had used up when the clock ran last */
    /* When the runtime used up time, so that a TSC value of the past can be converted (clock_history.h). */
    struct tr_clock_history {
        _Atomic uint64_t count;
        struct {
            _Atomic uint64_t tsc;    /* when it was over; 0: being written */
            _Atomic uint64_t stolen; /* in all, then */
        } entries[TR_CLOCK_HISTORY];
    } clock_history;

    /* The trigger's state; times in ticks. */
    _Atomic uint64_t hits, unseen_hits, snapshots, previous_hit, longest_delay, freeze_at;
    /* calls of selected functions whose thread changed to another stack before they returned (suspended_calls.h) */
    _Atomic uint64_t suspended_calls;
    _Atomic uint32_t until_reached; /* bool: a thread has arrived where the recording ends */

    struct tr_request requests[TR_REQUESTS];
};

_Static_assert(sizeof(struct tr_control) <= TR_IMAGE_OFFSET,
               "the image follows the control structure");

/* ---- fragment tables ---- */

/* Fragments are named by identifiers: the offset of their description in the table, divided by 8. Descriptions are
 * only ever added. The identifier of a table's first description is greater than 0. After fork the child gets a table
 * of its own that begins where its parent's ended: smaller identifiers are looked up in the parent's.
 * A table is used again when its process has ended, the recorder has read all logs that need it, and no child's table
 * names it as its parent. */
struct tr_table {
    uint32_t magic;  /* TR_TABLE_MAGIC; 0 between two processes */
    uint32_t serial; /* of this table */
    uint32_t parent; /* serial of the parent's table, or UINT32_MAX */
    uint32_t first;  /* identifiers below are the parent's */
    /* offset of the end of the last complete description, from the table's beginning plus 8 * first (a child's
     * descriptions begin at offset TR_PAGE and are named from `first` on: offset = TR_PAGE + 8 * (identifier -
     * first)) */
    _Atomic uint64_t tail;
    _Atomic uint32_t pid; /* 0: of a process that has not begun: its parent is about to fork */
    /* bool: a thread of the process goes on natively, and all others follow */
    _Atomic uint32_t left;
};

/* How a basic block ends. */
enum tr_block_end {
    TR_END_FALL,        /* no branch: what follows in memory runs next */
    TR_END_CONDITIONAL, /* Jcc, LOOPcc, JRCXZ: `target` or what follows */
    TR_END_JUMP,        /* direct */
    TR_END_CALL,        /* direct */
    TR_END_INDIRECT_JUMP,
    TR_END_INDIRECT_CALL,
    TR_END_RETURN,
    TR_END_FAR, /* syscall, int n, int3: leaves user mode, goes on after it */
};

/* One basic block of a fragment's path. `start` and `target` are relative to the fragment's address. */
struct tr_block {
    int32_t start;
    int32_t target;       /* of direct branches, else 0 */
    uint16_t size;        /* bytes */
    uint8_t instructions; /* at least 1 */
    uint8_t end;          /* enum tr_block_end, and TR_BLOCK_ flags */
};

enum {
    TR_BLOCK_END = 0x0f, /* mask of enum tr_block_end */
    /* its last instruction loads the stack pointer, perhaps with another place in the stack or another stack
     * (x86/stack_load.h): a TR_STACK record follows when it ran */
    TR_BLOCK_LOADS_STACK = 0x10,
    TR_BLOCK_COPIES_STACK =
        0x20, /* and by adding a register to it: another stack may be copied to its place */
};

/* A fragment (superblock): one entry, several exits, its blocks in the order in which they run when no side exit is
 * taken. Within a fragment no two blocks begin at the same address. The edge from block i to block i + 1 is the branch
 * of block i that leads to where block i + 1 begins (the fall-through of a conditional, the target of a jump or call;
 * the return address when an inlined call returns as expected). A fragment is left
 *   - by the other side of a conditional block's branch,
 *   - by its last block's end, or
 *   - by an indirect branch in its middle that goes elsewhere than expected (TR_EXIT says which).
 * `instruction_lengths`: one nibble each, low nibble first, of all blocks' instructions, in order. */
struct tr_fragment {
    uint64_t pc; /* where it begins */
    uint16_t block_count;
    uint16_t size; /* of this description in bytes, a multiple of 8 */
    uint32_t reserved;
    struct tr_block blocks[];
    /* uint8_t instruction_lengths[] */
};

/* ---- slots: a thread's header and its log ring ---- */

/* Where the ring begins in a slot, and what follows it: a page that is never made usable, so that a writer who misses
 * the ring's end faults. */
enum { TR_SLOT_RING = TR_PAGE, TR_SLOT_GUARD = TR_PAGE };

/* A chunk of the ring that the writer has begun: where the first record that begins in it lies. */
struct tr_chunk {
    /* stream position, bytes; UINT64_MAX: nothing begins there (being changed) */
    _Atomic uint64_t position;
};

enum tr_slot_end {
    TR_SLOT_RUNS,
    TR_SLOT_ENDED,    /* the thread has ended: it writes no more */
    TR_SLOT_EXITS,    /* its process ends: it may write for a moment more */
    TR_SLOT_LET_GO,   /* it goes on natively: frozen, or the recorder has gone */
    TR_SLOT_NO_SPACE, /* it goes on natively: the disk was full */
    TR_SLOT_CANNOT, /* it goes on natively: it does what the translator does not support (sideband record says) */
    TR_SLOT_EXECUTES, /* it ends, for its process calls execve; TR_SLOT_RUNS again when that fails */
};

/* The slot is used again when its thread has ended and the recorder has read its log. */
struct tr_slot {
    uint32_t magic; /* TR_SLOT_MAGIC; 0 between two threads */
    uint32_t
        serial; /* no other thread of the recording has it: generation * slot_count + the slot's index */
    uint32_t pid, tid;
    _Atomic uint32_t table;      /* serial of the fragment table of its address space */
    _Atomic uint32_t ended;      /* enum tr_slot_end */
    _Atomic uint32_t generation; /* how often it was used before */
    uint64_t size;               /* bytes in the ring */
    _Atomic uint64_t
        room; /* of these, used: fewer where the disk was full. From there the log goes on as after TR_PAD */
    uint64_t first_time; /* ticks */
    /* Stream positions, in bytes since the thread began: position P lies at P % size. Valid log: from the oldest
     * chunk that is still there up to the first word that is 0 at or after `head`; the writer clears
     * TR_CLEARED bytes ahead whenever it looks at its limit. */
    _Atomic uint64_t head; /* known to be written up to there; lags */
    /* full execution: the reader has taken everything before; set by the recorder */
    _Atomic uint64_t read_to;
    /* full execution: the writer waits for read_to to move (futex word) */
    _Atomic uint32_t waiting;
    /* bytes of log that were given up because the reader was late (not lossless) */
    _Atomic uint64_t lost;
    /* chunk i: positions P with P % size / (size / TR_CHUNKS) == i */
    struct tr_chunk chunks[TR_CHUNKS];
};

enum { TR_CLEARED = 8 << 10 };

/* Ticks between what ran before new code and the records of it: some nanoseconds. */
enum { TR_MOMENT = 16 };

/* ---- the log: 32-bit words ----
 *
 * 0               nothing was written here yet
 * below TR_EVENT  a fragment began to run: identifier << 1 | TR_INDIRECT when an indirect branch led to it
 * else            an event record: TR_EVENT | kind << 20 | payload, followed by `tr_event_words[kind]` words;
 *                 64-bit values are two words, low word first
 *
 * The path from one fragment entry to the next: see struct tr_fragment. An entry without TR_INDIRECT was reached by the
 * direct branch of the fragment before whose target it is, or a TR_EXIT record stands between. Where several exits lead
 * there and no TR_EXIT says which, it was the last block's, else that of the first conditional block in order. With
 * TR_INDIRECT it was reached by its last block's indirect branch, or by that of TR_EXIT.
 */
#define TR_INDIRECT UINT32_C(1)
#define TR_EVENT UINT32_C(0xf0000000)
#define TR_EVENT_KIND(word) ((word) >> 20 & 0xff)
#define TR_EVENT_PAYLOAD(word) ((word)&0xfffff)
#define TR_EVENT_WORD(kind, payload) (TR_EVENT | (uint32_t)(kind) << 20 | (uint32_t)(payload))

enum tr_event {
    TR_PAD, /* the rest of the ring's end is not used: the log goes on at the next multiple of its size */
    TR_EXIT,  /* payload k: the fragment was left by the branch of its block k */
    TR_STAMP, /* payload: enum tr_stamp; u64 time */
    TR_PARTIAL, /* u64 pc: of the fragment that was entered last, what lies before pc ran, pc did not (a fault, a
                     signal; pc is the fragment's start when nothing of it ran). Payload k + 1: pc is in block k or at its
                     start, or, where k is the number of blocks, where the last one leads; 0: in the first of the blocks that have an instruction there, or, when none has, where one of
                     the fragment's exits leads. After TR_EXIT: where that exit leads */
    TR_SYSCALL, /* payload: number; u64 time. The last block's system call began; nothing is traced until TR_RESUME */
    TR_RESUME,  /* u64 time: tracing begins again, where the next entry says */
    TR_HANDLER, /* payload: signal; u64 time, u64 interrupted pc, u64 interrupted stack pointer, u64 stack pointer
                     at the handler's entry, u64 handler. After TR_PARTIAL (or in a system call): a handler begins */
    TR_SIGRETURN, /* u64 time: between TR_SYSCALL and TR_RESUME: the handler has returned */
    TR_STACK, /* u64 before, u64 after: the stack pointer around the load that ended the last block */
    TR_CALLS, /* payload n: who has called what runs: u64 rsp, pc, rbx, rbp, r12, r13, r14, r15, rdi, u64 outer, u64 m, then
                     a copy of the program's stack: n 8-byte words (2 words each), the last m of them from `outer` on, where a
                     handler that runs on another stack has interrupted the thread, the others from rsp on. What the program is copying to its
                     stack is left out (copied_stacks.h). pc is in the fragment whose entry comes next,
                     so that a reader who begins here learns it. The first record of every chunk but the first; also the
                     first one after TR_FORKED, and after a TR_RESUME with which a selected call begins */
    TR_MARK, /* u64 time: a trigger hit: execution arrives at the start of the fragment entered last then */
    TR_STOP, /* payload: enum tr_slot_end; u64 time, u64 pc: the log of this thread ends, before pc ran */
    TR_LOST,     /* u64 time: log was given up here; what ran before this is unknown */
    TR_SWITCHED, /* as TR_CALLS, of the innermost part of another stack that code has changed to since the newest TR_STACK: the
                    first time since the newest TR_CALLS that began a chunk, as far as there is room (stack_switches.c) */
    TR_FORKED, /* u64 time: first record of a child after fork or vfork, which goes on where its parent called it, and of a
                    thread that was taken over: it has callers */
    TR_VALUES, /* payload n: u64 head (TR_VALUES_HEAD), then n - 1 more 64-bit words. Execution arrives at the start of the
                    fragment entered last: there a function begins, or there a call of it has returned to */
    TR_COPIED, /* u64: by the newest TR_STACK whose block has TR_BLOCK_COPIES_STACK, a stack was left that has this number from
                    now on; u64: the one that continues was left with this number, 0: unknown (copied_stacks.h). Right after any
                    other TR_STACK: likewise, but 0: one that has its memory for itself (shared_stacks.h) */
    TR_RESTORED, /* u64 stack pointer, u64 stack pointer that it restores: the system call that comes next is sigreturn */
    TR_OUTSIDE, /* u64 time, u64 pc: a call of a selected function has ended, before pc ran. The thread is not traced until TR_RESUME,
                    which comes with another such call */
    TR_EVENT_KINDS,
};

/* Of a TR_VALUES record: index of the struct tr_value_place; of results or of arguments. */
#define TR_VALUES_HEAD(place, results) ((uint64_t)(place) << 1 | (results))

enum tr_stamp {
    TR_STAMP_ENTRY, /* when the fragment entered last began */
    TR_STAMP_NEXT,  /* when what runs next begins: the fragment entered last has been left */
    TR_STAMP_NEW_CODE, /* likewise, and sideband records of this time describe code that is new: packets must separate
                          what ran before from what runs next */
};

/* Payload words after the first one, but for the copy of a stack and for values. */
static const uint8_t tr_event_words[TR_EVENT_KINDS] = {
    [TR_STAMP] = 2,     [TR_PARTIAL] = 2,   [TR_SYSCALL] = 2,  [TR_RESUME] = 2,
    [TR_HANDLER] = 10,  [TR_SIGRETURN] = 2, [TR_STACK] = 4,    [TR_CALLS] = 22,
    [TR_MARK] = 2,      [TR_STOP] = 4,      [TR_LOST] = 2,     [TR_FORKED] = 2,
    [TR_SWITCHED] = 22, [TR_COPIED] = 4,    [TR_RESTORED] = 4, [TR_OUTSIDE] = 4,
};

/* Payload words of the event record that `word` begins, whose kind is below TR_EVENT_KINDS. */
static inline uint32_t tr_payload_words(uint32_t word)
{
    uint32_t kind = TR_EVENT_KIND(word);
    bool has_more = kind == TR_CALLS || kind == TR_SWITCHED || kind == TR_VALUES;
    return tr_event_words[kind] + (has_more ? 2 * TR_EVENT_PAYLOAD(word) : 0);
}

/* ---- the sideband log ----
 *
 * Records are those of engine/packets/sideband_layout.h (mappings, names, forks, exits, untraced, hits, deaths).
 * Mappings of code that is in no file (`jit`) name a dump in the arena's dump area: `length` bytes and CODE_IMAGE_TAIL (16) more, what
 * follows in memory or zeros. The recorder makes an ELF file of all dumps that begin in TR_DUMP_SPAN bytes of the area: path
 * "images/dump.NUMBER" (hexadecimal) with `file_offset` CODE_IMAGE_OFFSET (4096) + N means the dump N bytes from
 * NUMBER * TR_DUMP_SPAN on.
 */

/* ---- the runtime's image ----
 *
 * The recorder embeds the runtime's ELF file (no dynamic section, no relocations; segments relative to 0) and puts its
 * contents into the arena. At the exec stop it has the process run a small loader (engine/translator/inject/loader.S), which
 * maps the arena and anonymous memory (readable, writable and executable) of the image's size anywhere, copies the
 * contents, fills in struct tr_start at the address of symbol `tr_start_info`, and jumps to symbol `tr_start` with all
 * registers and flags as the kernel leaves them for a new program: all general registers but rsp are 0. The 8 bytes
 * below the stack pointer hold the address of `tr_start`; everything else below it is as the kernel left it. */
struct tr_start {
    uint64_t pc; /* of the program's first instruction (its interpreter's, if it has one) */
    uint64_t image, image_size; /* where the runtime's image was mapped */
    /* where the arena was mapped: PROT_NONE but for control, image and sideband log */
    uint64_t arena;
    /* fragment table for this address space, reserved by the recorder (next_table) */
    uint32_t table;
    /* for the first thread, reserved by the recorder (next_slot); UINT32_MAX: all were in use */
    uint32_t slot;
    uint32_t pid;       /* as the recorder knows it */
    uint32_t execed;    /* bool: this program replaced a traced one */
    uint64_t exec_time; /* ticks: when that one ended */
    char name[16];
};

#endif
