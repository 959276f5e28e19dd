#include "cli/text/explained_calls.h"

#include "analysis/explanation.h"
#include "analysis/function_choice.h"
#include "cli/text/explanation_text.h"
#include "index/call_ordinal.h"
#include "output/report/json_report.h"

#include <stdlib.h>

struct explained_calls explained_calls_standard(void)
{
    enum { CAUSES_STANDARD = 6 };
    return (struct explained_calls){.factor = 3, .causes = CAUSES_STANDARD};
}

static bool print_if_it_fits(const struct explained_calls *wanted,
                             const struct explanation *explanation, bool is_last, const char *trace,
                             FILE *stream)
{
    if (!wanted->json || wanted->max_bytes == 0) {
        (wanted->json ? explanation_print_json : explanation_print)(stream, explanation, trace);
        return true;
    }
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (memory) {
        explanation_print_json(memory, explanation, trace);
        fclose(memory);
    }
    bool fits = text && (is_last || size <= wanted->max_bytes);
    if (fits) {
        fwrite(text, 1, size, stream);
        json_report_note_size(wanted->max_bytes, size);
    }
    free(text);
    return fits;
}

bool explained_calls_print(const struct explained_calls *wanted, const struct trace_index *index,
                           const char *trace, FILE *stream, struct error *error)
{
    struct function_choice choice;
    struct call_place given;
    struct slow_calls_request calls = {
        .factor = wanted->factor, .limit = wanted->limit, .counts_preempted = wanted->wall};
    if (!function_choose(index, wanted->function, &choice, error))
        return false;
    calls.group = choice.group;
    if (choice.ordinal > 0) {
        if (!index_nth_call(index, choice.group, choice.ordinal, &given, error))
            return false;
        calls.given = &given;
    }
    /* With fewer causes the others are in the rest, so that the shares still add up. */
    bool ok = true;
    for (size_t causes = wanted->causes; causes > 0 && ok; causes--) {
        struct explanation explanation;
        ok = explain(index, &calls, causes, &explanation, error);
        bool is_printed = ok && print_if_it_fits(wanted, &explanation, causes == 1, trace, stream);
        explanation_free(&explanation);
        if (is_printed)
            break;
    }
    return ok;
}
