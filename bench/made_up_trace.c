/* Writes a trace of made-up spans (made_up_spans.h), of any size: the input of bench/view.
 *
 *     made_up_trace SPANS FILE
 */
#include "made_up_spans.h"
#include "output/fxt/fxt_writer.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: made_up_trace SPANS FILE\n");
        return 2;
    }
    struct span_source *source = made_up_spans(strtoull(argv[1], NULL, 10));
    struct error error = {0};
    bool ok = fxt_write(source, argv[2], NULL, &error);
    source->close(source);
    if (!ok)
        fprintf(stderr, "%s\n", error.text);
    return !ok;
}
