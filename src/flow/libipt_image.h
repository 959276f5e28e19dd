/* A process's code in libipt's form, kept in step with the address space as time advances.
 *
 * libipt wants code as "sections" (a range of a file at an address) in an "image" per address
 * space, and keeps a cache of analysed blocks with each section. Sections are shared by all
 * decoders of a recording (libipt locks them); images belong to one decoder. Source: intel-pt.h of
 * libipt 2.0.5, "Traced image".
 *
 * Sections and not libipt's read-memory callback: without a section libipt decodes every
 * instruction anew each time, which the tables of facts/captures.md put at a sixth of the speed.
 */
#ifndef MAGIC_TRACE_FLOW_LIBIPT_IMAGE_H
#define MAGIC_TRACE_FLOW_LIBIPT_IMAGE_H

#include "flow/code_space.h"

#include <intel-pt.h>

struct libipt_sections;

/* NULL when out of memory. */
struct libipt_sections *libipt_sections_open(void);
void libipt_sections_close(struct libipt_sections *sections);

struct libipt_image {
    struct code_space space;
    struct pt_image *image;
    struct libipt_sections *sections; /* borrowed */
    size_t applied;                   /* changes of the process that `image` contains */
};

/* NULL when out of memory. */
struct libipt_image *libipt_image_new(const struct process *process, struct symbols *symbols,
                                      struct libipt_sections *sections);
void libipt_image_free(struct libipt_image *image);

/* Makes space and image as they were at `time`; `before_exec` as in code_space_changes. Must not
 * run while the decoder is inside libipt. */
void libipt_image_advance(struct libipt_image *image, struct ticks time, bool before_exec);

#endif
