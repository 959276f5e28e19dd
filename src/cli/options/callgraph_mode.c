#include "cli/options/callgraph_mode.h"

#include "cli/options/options.h"
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

bool callgraph_mode_at(size_t index, struct option_value *value)
{
    static const struct option_value modes[] = {
        {"lbr", CALLGRAPH_LBR, "the processor's last branch records, stitched", NULL},
        {"lbr-no-stitch", CALLGRAPH_LBR_NO_STITCH,
         "the processor's last branch records, each sample's by itself", NULL},
        {"dwarf", CALLGRAPH_DWARF, "the stack's bytes are saved and unwound later", NULL},
        {"fp", CALLGRAPH_FRAME_POINTERS, "frame pointers, which the program must be compiled with",
         NULL},
    };
    return option_value_of_table(modes, sizeof modes / sizeof *modes, index, value);
}

bool callgraph_mode_parse(enum callgraph_mode *mode, const char *text)
{
    if (strcasecmp(text, "Frame_pointers") == 0)
        text = "fp";
    struct option_value value;
    for (size_t i = 0; callgraph_mode_at(i, &value); i++) {
        if (strcasecmp(text, value.name) != 0)
            continue;
        *mode = (enum callgraph_mode)value.value;
        return true;
    }
    return parse_record(mode, text);
}
