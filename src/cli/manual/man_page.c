/* Makes a man page of its template: writes it to standard output.
 *
 * Run by meson when magic-trace is built: man_page FILE.
 */
#include "cli/manual/page_template.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    FILE *page_template = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (!page_template) {
        perror(argc == 2 ? argv[1] : "usage: man_page FILE");
        return EXIT_FAILURE;
    }
    bool ok = page_template_fill(stdout, page_template);
    fclose(page_template);
    return ok && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
