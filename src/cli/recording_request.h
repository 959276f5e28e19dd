/* What `run` and `attach` have in common: the options of a recording, and the way from there to a
 * trace.
 */
#ifndef MAGIC_TRACE_CLI_RECORDING_REQUEST_H
#define MAGIC_TRACE_CLI_RECORDING_REQUEST_H

#include "cli/command.h"
#include "cli/options/options.h"
#include "cli/serve/trace_showing.h"
#include "cli/trace_file.h"
#include "engine/objects.h"
#include "engine/registry.h"

struct recording_request {
    struct record_options record; /* the trigger's name and places are owned */
    struct trace_file_options trace;
    struct trace_showing showing;
    const char *engine; /* as given to -engine */
    const char *working_directory;
    const char *args;         /* -args; NULL: none */
    const char *args_file;    /* -args-all-of; NULL: none */
    const char *only;         /* -only; NULL: none */
    const char *trigger;      /* as written; NULL: none */
    const char *symbol_part;  /* of -symbol; NULL: none */
    const char *from, *until; /* of -record-from and -record-until, as written; NULL: none */
    bool no_decode;
    bool formatted; /* -output or -format was given */
};

/* The options that run and attach share; their requests begin with a struct recording_request. */
extern const struct option_group recording_options[];

struct recording_request recording_request_new(char **magic_trace_command);
void recording_request_free(struct recording_request *request);

/* All options have been read: whether they go together. 0, or the exit status after a message. */
int recording_request_check(struct recording_request *request, const struct command *self);

/* The engine for it; with -engine auto says which, and why. */
const struct engine *recording_request_choose_engine(const struct recording_request *request,
                                                     enum engine_use use, struct error *error);

/* Finds the places of the trigger that was asked for, if any; asks the user where that was asked
 * for. */
bool recording_request_find_trigger(struct recording_request *request,
                                    const struct objects *objects, struct error *error);
/* The same of the places where the recording begins and ends. */
bool recording_request_find_bounds(struct recording_request *request, const struct objects *objects,
                                   struct error *error);
/* The same of what -only names. */
bool recording_request_find_selected(struct recording_request *request,
                                     const struct objects *objects, struct error *error);
/* The same of the functions that -args names. */
bool recording_request_find_chosen(struct recording_request *request, const struct objects *objects,
                                   struct error *error);

/* What came of the recording, beyond success. */
struct recording_outcome {
    struct record_result result;
    int status; /* exit status of magic-trace */
};

/* Records with `engine` as `use` says, decodes and writes the trace, unless -no-decode. `say_end`
 * prints how the program ended; may be NULL. */
struct recording_outcome recording_request_carry_out(
    struct recording_request *request, const struct engine *engine, enum engine_use use,
    void (*say_end)(const struct record_options *, const struct record_result *));

#endif
