/* What is wanted of the processor's own trace and counters: by engines that use them.
 *
 * Filled by cli/ (cli/options/processor_arguments.h), read by the engines pt, perf and sample. Engines that
 * cannot serve a part of it say so in `struct engine`'s serves(), for which
 * processor_options_served() has the words.
 */
#ifndef MAGIC_TRACE_ENGINE_PROCESSOR_OPTIONS_H
#define MAGIC_TRACE_ENGINE_PROCESSOR_OPTIONS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* -trace-include-kernel, -trace-kernel-only */
enum trace_scope {
    TRACE_USER,
    TRACE_USER_AND_KERNEL,
    TRACE_KERNEL,
};

/* -timer-resolution. What they mean: docs/man/magic-trace-run.1. */
enum timer_kind {
    TIMER_NORMAL,
    TIMER_LOW,
    TIMER_HIGH,
    TIMER_SAMPLE, /* of sampling alone */
    TIMER_CUSTOM, /* of Intel PT alone */
};

/* Fields of the intel_pt unit's configuration that TIMER_CUSTOM can set, in the order in which they
 * are passed to perf. */
enum timer_field {
    TIMER_CYC,
    TIMER_CYC_THRESH,
    TIMER_MTC,
    TIMER_MTC_PERIOD,
    TIMER_NORETCOMP,
    TIMER_PSB_PERIOD,
    TIMER_FIELDS
};

struct timer_resolution {
    enum timer_kind kind;
    uint64_t frequency; /* TIMER_SAMPLE: samples per second, at least 1 */
    bool given[TIMER_FIELDS];
    uint8_t values[TIMER_FIELDS]; /* TIMER_CUSTOM: of those given; 0 and 1 are no and yes */
};

/* As sysfs calls them ("cyc_thresh"). */
extern const char *const timer_field_names[TIMER_FIELDS];

/* -callgraph-mode: how the stack of a sample is found. */
enum callgraph_mode {
    CALLGRAPH_DEFAULT, /* the engine's choice: lbr where the processor has it, else dwarf */
    CALLGRAPH_LBR,     /* the processor's last branch records, stitched */
    CALLGRAPH_LBR_NO_STITCH,
    CALLGRAPH_DWARF, /* the stack's bytes are saved and unwound later */
    CALLGRAPH_FRAME_POINTERS,
};

/* How close to the event a sample's address must be: perf_event_attr.precise_ip. */
enum { EVENT_PRECISION_HIGHEST = 4 }; /* the highest that the machine supports, at most 3 */

/* A kind of event that can be recorded beside: -events. */
struct event_kind {
    const char *name; /* as perf and people write it: "cache-misses" */
    uint32_t type;    /* perf_event_attr.type */
    uint64_t config;  /* perf_event_attr.config */
    uint64_t period;  /* events per sample */
    bool precise;     /* a hardware event, of which precise addresses are asked by default */
    bool in_kernel;   /* the kernel does it: not with exclude_kernel */
};

/* By name; a '_' stands for a '-', and upper for lower case. NULL if not found. */
const struct event_kind *event_kind_find(const char *name);

/* All names with commas between, for messages. */
const char *event_kind_names(void);

struct extra_event {
    const struct event_kind *kind;
    bool by_frequency; /* `count` is samples per second, not events per sample */
    uint64_t count;    /* at least 1 */
    uint8_t precision; /* 0 to 3, EVENT_PRECISION_HIGHEST */
};

enum { EXTRA_EVENTS = 8 }; /* at most this many */

struct processor_options {
    enum trace_scope scope;
    struct timer_resolution timer;
    bool sampling; /* -sampling, -engine sample */
    enum callgraph_mode callgraph;
    struct extra_event events[EXTRA_EVENTS];
    size_t event_count;
};

/* The options of which an engine may be incapable. */
enum processor_option {
    PROCESSOR_TIMER = 1 << 0, /* -timer-resolution, other than Normal */
    PROCESSOR_SCOPE = 1 << 1,
    PROCESSOR_SAMPLING = 1 << 2, /* with -callgraph-mode */
    PROCESSOR_EVENTS = 1 << 3,
};

/* False when an option was given that is not among `served` (of enum processor_option): the error
 * names the option and the `engine`. */
bool processor_options_served(const struct processor_options *options, unsigned served,
                              const char *engine, struct error *error);

#endif
