/* Makes a man page of its template.
 *
 * Run by meson when magic-trace is built: man_page TEMPLATE PAGE.
 */
#include "cli/manual/page_template.h"

#include <stdio.h>
#include <stdlib.h>

static FILE *open_file(const char *path, const char *mode)
{
    FILE *file = fopen(path, mode);
    if (!file)
        perror(path);
    return file;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fputs("usage: man_page TEMPLATE PAGE\n", stderr);
        return EXIT_FAILURE;
    }
    FILE *page_template = open_file(argv[1], "r");
    FILE *page = page_template ? open_file(argv[2], "w") : NULL;
    bool ok = page && page_template_fill(page, page_template);
    ok &= page && fclose(page) == 0;
    if (page_template)
        fclose(page_template);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
