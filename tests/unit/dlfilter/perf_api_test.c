/* Our declaration of perf's filter API is that of perf's own header. Built where perf is. */
#include "../../../dlfilter/perf_api.h"
#include "recording/perf_script/branch_stream.h"

#include <stddef.h>

/* perf's header declares the same functions, with its own types. */
#define start perf_start
#define stop perf_stop
#define filter_event_early perf_filter_event_early
#define filter_description perf_filter_description
#include <perf/perf_dlfilter.h>

#define SAME_FIELD(field)                                                                          \
    _Static_assert(offsetof(struct perf_api_sample, field) ==                                      \
                           offsetof(struct perf_dlfilter_sample, field) &&                         \
                       sizeof(((struct perf_api_sample *)0)->field) ==                             \
                           sizeof(((struct perf_dlfilter_sample *)0)->field),                      \
                   #field)

SAME_FIELD(size);
SAME_FIELD(ip);
SAME_FIELD(pid);
SAME_FIELD(tid);
SAME_FIELD(time);
SAME_FIELD(addr);
SAME_FIELD(cpu);
SAME_FIELD(flags);
SAME_FIELD(raw_size);
SAME_FIELD(raw_data);
SAME_FIELD(event);

_Static_assert(offsetof(struct perf_api_functions, object_code) ==
                   offsetof(struct perf_dlfilter_fns, object_code),
               "object_code");
_Static_assert(sizeof(struct perf_api_functions) == sizeof(struct perf_dlfilter_fns), "functions");

#define SAME_FLAG(ours, theirs)                                                                    \
    _Static_assert((unsigned)(ours) == (unsigned)(PERF_DLFILTER_FLAG_##theirs), #theirs)

SAME_FLAG(BRANCH_IS_BRANCH, BRANCH);
SAME_FLAG(BRANCH_IS_CALL, CALL);
SAME_FLAG(BRANCH_IS_RETURN, RETURN);
SAME_FLAG(BRANCH_IS_CONDITIONAL, CONDITIONAL);
SAME_FLAG(BRANCH_IS_SYSCALL, SYSCALLRET);
SAME_FLAG(BRANCH_IS_ASYNCHRONOUS, ASYNC);
SAME_FLAG(BRANCH_IS_INTERRUPT, INTERRUPT);
SAME_FLAG(BRANCH_IS_ABORT, TX_ABORT);
SAME_FLAG(BRANCH_STARTS_TRACE, TRACE_BEGIN);
SAME_FLAG(BRANCH_ENDS_TRACE, TRACE_END);
SAME_FLAG(BRANCH_IN_TRANSACTION, IN_TX);
SAME_FLAG(BRANCH_ENTERS_GUEST, VMENTRY);
SAME_FLAG(BRANCH_LEAVES_GUEST, VMEXIT);

int main(void)
{
    return 0; /* all that it says, it says to the compiler */
}
