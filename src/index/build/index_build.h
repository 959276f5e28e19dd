/* index_build() with a layout of the caller's choice: for tests, which hold that answers do not
 * depend on it.
 */
#ifndef MAGIC_TRACE_INDEX_BUILD_INDEX_BUILD_H
#define MAGIC_TRACE_INDEX_BUILD_INDEX_BUILD_H

#include "base/error.h"
#include "index/build/levels_of_detail.h"

struct span_source; /* stack/spans/span.h */

bool index_build_as(struct span_source *source, const char *path, uint64_t id,
                    const struct index_layout *layout, struct error *error);

#endif
