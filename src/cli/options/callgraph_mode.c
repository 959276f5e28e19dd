#include "cli/options/callgraph_mode.h"

#include "cli/options/sexp.h"

#include <string.h>
#include <strings.h>

static bool parse_record(enum callgraph_mode *mode, const char *text)
{
    struct sexp_record record;
    bool stitched;
    if (!sexp_read_record(&record, text) ||
        strcasecmp(record.constructor, "Last_branch_record") != 0 || record.count != 1 ||
        strcmp(record.fields[0].name, "stitched") != 0 || *record.fields[0].kind ||
        !sexp_boolean(record.fields[0].value, &stitched))
        return false;
    *mode = stitched ? CALLGRAPH_LBR : CALLGRAPH_LBR_NO_STITCH;
    return true;
}

bool callgraph_mode_parse(enum callgraph_mode *mode, const char *text)
{
    static const struct {
        const char *name;
        enum callgraph_mode mode;
    } names[] = {
        {"lbr", CALLGRAPH_LBR},
        {"lbr-no-stitch", CALLGRAPH_LBR_NO_STITCH},
        {"dwarf", CALLGRAPH_DWARF},
        {"fp", CALLGRAPH_FRAME_POINTERS},
        {"Frame_pointers", CALLGRAPH_FRAME_POINTERS},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcasecmp(text, names[i].name) != 0)
            continue;
        *mode = names[i].mode;
        return true;
    }
    return parse_record(mode, text);
}
