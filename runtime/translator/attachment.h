/* What the recorder and the runtime exchange when magic-trace takes over a process that runs already, and when it lets
 * it go: a structure at a fixed place of the runtime's image in the process.
 *
 * The recorder has stopped all threads by ptrace. It maps memory for the image and for what follows it (the threads'
 * states, the arena's path), fills in the structure, and has one of the stopped threads, the carrier, run tr_attach_start.
 * When `state` is TR_ATTACH_READY it makes each thread, the carrier too, run tr_attach_thread_start on its new stack,
 * with the gs base that `threads` names, and detaches. From then on they are traced as those of `run`.
 *
 * To let go, when no thread uses the runtime any more, the recorder has a stopped thread run tr_release_start, which
 * undoes the rest; the recorder unmaps the image. Another magic-trace can do that, too, if both are of the same build.
 *
 * A program that an attached process executes, with -follow, fills in by itself what is needed to let it go.
 *
 * When the recorder dies the carrier goes on natively by itself. Offsets for the assembler are checked in attach.c.
 */
#ifndef MAGIC_TRACE_RUNTIME_TRANSLATOR_ATTACHMENT_H
#define MAGIC_TRACE_RUNTIME_TRANSLATOR_ATTACHMENT_H

#define TR_ATTACHMENT_OFFSET 0x1000 /* in the image: it is first there (runtime.ld) */
#define TR_ATTACHMENT_SIZE 0x400
#define TR_ATTACHMENT_MAGIC 0x4843415454414d54 /* "TMATTACH" */
#define TR_ATTACH_REGISTERS 0x48               /* offset of `leaving` */

#ifndef __ASSEMBLER__
#include "runtime/translator/thread.h"

enum tr_attach_state {
    TR_ATTACH_BEGINS,
    TR_ATTACH_READY,     /* by the carrier: the threads can be moved */
    TR_ATTACH_FAILED,    /* by the carrier: only mappings have changed; `problem` says why */
    TR_ATTACH_ABANDONED, /* by the carrier: the recorder was silent, it goes on natively by itself */
    TR_ATTACH_RELEASED,  /* by the carrier: the image alone is left */
};

/* Why it failed; `problem_number` is the errno. */
enum tr_attach_problem {
    TR_ATTACH_CANNOT_OPEN,   /* the arena */
    TR_ATTACH_NO_SPACE,      /* address space for the arena */
    TR_ATTACH_NO_MEMORY,     /* for the runtime */
    TR_ATTACH_TSC_FORBIDDEN, /* PR_SET_TSC */
    TR_ATTACH_NO_MAPS,       /* /proc/self/maps cannot be read */
};

/* A thread where it was stopped. */
struct tr_attached_thread {
    struct tr_state app; /* of an interrupted system call: before it is made again */
    uint64_t mask;
    struct tr_rseq rseq;
    int32_t tid;      /* as it knows it itself, in its pid namespace */
    uint8_t calls;    /* bool: at app.pc stands the SYSCALL instruction that it makes again first */
    uint8_t recorded; /* bool: else it runs translated without a log */
    char name[16];
    struct tr_thread *thread; /* by the carrier */
};

struct tr_attachment {
    uint64_t magic;
    /* Distances from this structure: of labels in attach.S and safe_syscall.S, and of tr_process. */
    int64_t start, thread_start, release_start, syscall_made, process;

    /* By the recorder. */
    uint64_t thread_size; /* sizeof(struct tr_thread): whether both are of one build */
    uint64_t signature;   /* of the image, likewise */
    uint64_t leaving_mask;
    struct tr_state leaving; /* of the carrier, where it goes on natively */
    uint64_t image, image_size;
    uint64_t whole_size;    /* of the mapping: image, threads, path */
    uint64_t threads, path; /* addresses */
    uint64_t place;         /* places.h */
    uint64_t arena_size, open_size;
    uint32_t thread_count, carrier; /* its index in threads */
    uint32_t table;
    int32_t pid;        /* as the process knows it itself, in its pid namespace */
    int32_t outer_pid;  /* as the recorder knows it */
    int32_t recorder;   /* the process that attached */
    int32_t arena_file; /* a descriptor, which the carrier closes; -1: it opens `path` */
    uint32_t fsgsbase;
    uint32_t supplies_pages; /* bool: tr_process.supplies_pages */
    uint32_t protection_keys;
    uint8_t extended_state[48]; /* struct _fpx_sw_bytes */
    char name[16];

    /* By the carrier. */
    _Atomic uint32_t state; /* enum tr_attach_state */
    uint32_t problem;       /* enum tr_attach_problem */
    int32_t problem_number;
};
#endif

#endif
