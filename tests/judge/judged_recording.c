#include "judged_recording.h"

#include <stdio.h>
#include <sys/stat.h>

bool judged_recording_open(struct judged_recording *recording, const char *path,
                           struct error *error)
{
    struct stat status;
    char file[4096];
    bool directory = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    snprintf(file, sizeof(file), directory ? "%s/perf.data" : "%s", path);
    if (!perf_data_open(&recording->data, file, error))
        return false;
    if (!address_spaces_build(&recording->spaces, &recording->data, directory ? path : NULL,
                              error)) {
        perf_data_close(&recording->data);
        return false;
    }
    trace_streams_cut(&recording->streams, &recording->data);
    return true;
}

void judged_recording_close(struct judged_recording *recording)
{
    trace_streams_free(&recording->streams);
    address_spaces_free(&recording->spaces);
    perf_data_close(&recording->data);
}

const struct process *judged_recording_process(const struct judged_recording *recording,
                                               const struct trace_stream *stream)
{
    if (stream->tid == UINT32_MAX)
        return NULL;
    const struct thread *thread = address_spaces_thread(&recording->spaces, stream->tid);
    return thread ? address_spaces_process(&recording->spaces, thread->pid) : NULL;
}

void judged_recording_config(const struct judged_recording *recording, struct pt_config *config,
                             const uint8_t *bytes, uint64_t size)
{
    const struct pt_setup *setup = &recording->data.setup;
    pt_config_init(config);
    config->begin = (uint8_t *)(uintptr_t)bytes; /* libipt only reads them */
    config->end = config->begin + size;
    config->nom_freq = (uint8_t)setup->max_nonturbo_ratio;
    config->cpuid_0x15_eax = setup->tsc_ctc_denominator;
    config->cpuid_0x15_ebx = setup->tsc_ctc_numerator;
    if (setup->mtc_period_bits && setup->config & setup->mtc_bit)
        config->mtc_freq = (uint8_t)((setup->config & setup->mtc_period_bits) >>
                                     __builtin_ctzll(setup->mtc_period_bits));
}
