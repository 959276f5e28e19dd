#include "cli/salvage.h"

#include "engine/registry.h"
#include "recording/perf_data/partial_file.h"

#include <sys/stat.h>

bool salvage(const char *recording, struct error *error)
{
    struct stat status;
    if (stat(recording, &status) != 0 || !S_ISDIR(status.st_mode))
        return true;
    const struct engine *engine;
    for (size_t i = 0; (engine = engine_at(i)); i++)
        if (engine->salvage && !engine->salvage(recording, error))
            return false;
    return partial_file_salvage(recording, error);
}
