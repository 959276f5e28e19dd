#include "cli/explained_calls.h"

#include "analysis/explanation.h"
#include "analysis/function_choice.h"
#include "cli/explanation_text.h"
#include "index/call_ordinal.h"

struct explained_calls explained_calls_standard(void)
{
    enum { CAUSES_STANDARD = 6 };
    return (struct explained_calls){.factor = 3, .causes = CAUSES_STANDARD};
}

bool explained_calls_print(const struct explained_calls *wanted, const struct trace_index *index,
                           const char *trace, FILE *stream, struct error *error)
{
    struct function_choice choice;
    struct call_place given;
    struct slow_calls_request calls = {.factor = wanted->factor, .limit = wanted->limit};
    if (!function_choose(index, wanted->function, &choice, error))
        return false;
    calls.group = choice.group;
    if (choice.ordinal > 0) {
        if (!index_nth_call(index, (struct index_tracks){0}, choice.group, choice.ordinal, &given,
                            error))
            return false;
        calls.given = &given;
    }
    struct explanation explanation;
    bool ok = explain(index, &calls, wanted->causes, &explanation, error);
    if (ok)
        (wanted->json ? explanation_print_json : explanation_print)(stream, &explanation, trace);
    explanation_free(&explanation);
    return ok;
}
