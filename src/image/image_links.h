/* A folder in which stock perf finds the images that we use ourselves: below it, under the path
 * that the recording names, a link to where each file is now (perf script --symfs).
 *
 * A recording's own copies of programs, its dumped pages, and a recording that was moved are thus
 * all found. Made by flow.c for the time that perf runs.
 */
#ifndef MAGIC_TRACE_IMAGE_IMAGE_LINKS_H
#define MAGIC_TRACE_IMAGE_IMAGE_LINKS_H

#include "image/address_space.h"

/* *folder is a new temporary folder, for image_links_remove; NULL when all files are where they
 * were recorded, and perf needs no help. A file that cannot be linked to is left out. */
bool image_links_make(char **folder, const struct address_spaces *spaces, struct error *error);

/* `folder` may be NULL; frees it. */
void image_links_remove(char *folder);

#endif
