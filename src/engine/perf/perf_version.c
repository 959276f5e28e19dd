#include "engine/perf/perf_version.h"

#include <stdio.h>

bool perf_version_parse(struct perf_version *version, const char *text)
{
    return sscanf(text, "perf version %u.%u", &version->major, &version->minor) == 2;
}

static bool at_least(struct perf_version version, unsigned major, unsigned minor)
{
    return version.major > major || (version.major == major && version.minor >= minor);
}

bool perf_has_exit_snapshot(struct perf_version version)
{
    return at_least(version, 5, 4);
}

bool perf_has_kcore(struct perf_version version)
{
    return at_least(version, 5, 5);
}

bool perf_has_control(struct perf_version version)
{
    return at_least(version, 5, 10);
}

bool perf_has_stop(struct perf_version version)
{
    return at_least(version, 5, 12);
}
