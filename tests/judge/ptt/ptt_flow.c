/* What our flow decoder makes of one file of packets and one of code: to be compared with what
 * `.exp(ptxed)` of libipt's .ptt tests expect.
 *
 *     ptt_flow [--cpu FAMILY/MODEL[/STEPPING]] [--filter:addr0_cfg 1 --filter:addr0_a FIRST
 * --filter:addr0_b LAST] FILE.bin ADDRESS FILE.pt
 *
 * The filter, as of ptxed: what is traced is from FIRST to LAST.
 * Prints a line per step (flow_step.h): an instruction's address in 16 hexadecimal digits, or what
 * happened in brackets, as ptxed does.
 */
#include "base/file.h"
#include "base/memory.h"
#include "decode/flow_options.h"
#include "decode/flow_step.h"
#include "decode/pt/decode_jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { TID = 1 };

struct input {
    struct cpu_identity cpu;
    const char *code_path, *packets_path;
    uint64_t address;
    uint64_t filter, first, last; /* filter 1: from `first` to `last` is traced; 0: all is */
};

static void print_step(void *context, const struct flow_step *step)
{
    switch ((enum flow_step_kind)step->kind) {
    case STEP_INSTRUCTION:
        printf("%016" PRIx64 "\n", step->from);
        break;
    case STEP_START:
    case STEP_END:
    case STEP_INTERRUPT:
    case STEP_ABORT:
    case STEP_OVERFLOW:
        printf("[%s]\n", flow_step_name(step->kind));
        break;
    case STEP_ERROR:
        printf("[%" PRIx64 ", %" PRIx64 ": error: %s]\n", step->offset, step->from,
               decode_error_text(step->error));
        break;
    default: /* branches: the instructions show them */
        break;
    }
}

static void *begin_thread(void *context, const struct thread *thread)
{
    return NULL;
}

static void drop_events(void *thread_object, const struct flow_event *events, size_t count)
{
}

static void end_thread(void *thread_object)
{
}

static bool decode(const struct perf_data *data, struct error *error)
{
    static const struct flow_observer observer = {.instructions = true, .step = print_step};
    static const struct flow_sink sink = {
        .begin = begin_thread, .events = drop_events, .end = end_thread};
    const struct flow_options options = {.cores = 1};
    struct address_spaces spaces = {0};
    if (!address_spaces_build(&spaces, data, NULL, error))
        return false;
    struct symbols *symbols = symbols_open(&spaces, NULL);
    struct trace_streams streams;
    trace_streams_cut(&streams, data);
    struct decoder_shared *shared = decoder_shared_open(data, symbols);
    const struct decode_request request = {.data = data,
                                           .spaces = &spaces,
                                           .streams = &streams,
                                           .shared = shared,
                                           .sink = &sink,
                                           .options = &options,
                                           .observer = &observer};
    struct flow_statistics statistics = {0};
    decode_all(&request, &statistics);
    decoder_shared_close(shared);
    trace_streams_free(&streams);
    symbols_close(symbols);
    address_spaces_free(&spaces);
    return true;
}

/* As perf writes them down (traced_code.h); owned by the caller. */
static char *filters_of(const struct input *input)
{
    if (!input->filter)
        return NULL;
    return memory_format("filter 0x%" PRIx64 "/0x%" PRIx64 "@%s", input->first - input->address,
                         input->last - input->first + 1, input->code_path);
}

static bool judge(const struct input *input, struct error *error)
{
    size_t code_size, size;
    char *code = file_read(input->code_path, &code_size, error);
    char *packets = code ? file_read(input->packets_path, &size, error) : NULL;
    free(code);
    if (!packets)
        return false;
    struct sideband_record records[] = {
        {.kind = SIDEBAND_NAME, .pid = TID, .tid = TID, .cpu = UINT32_MAX, .name = {.name = "ptt"}},
        {.kind = SIDEBAND_MAPPING,
         .pid = TID,
         .tid = TID,
         .cpu = UINT32_MAX,
         .mapping = {.start = input->address,
                     .length = code_size,
                     .protection = PROT_READ | PROT_EXEC,
                     .flags = MAP_PRIVATE,
                     .executable = true,
                     .path = input->code_path}},
    };
    struct aux_chunk chunk = {
        .tid = TID, .cpu = UINT32_MAX, .bytes = (const uint8_t *)packets, .size = size};
    char *filters = filters_of(input);
    const struct perf_data data = {
        .path = (char *)input->packets_path,
        .setup = {.clock = {.mult = 1}, .has_clock = true, .kernel = true, .filters = filters},
        .has_setup = true,
        .cpu = input->cpu,
        .records = records,
        .record_count = sizeof records / sizeof *records,
        .chunks = &chunk,
        .chunk_count = 1};
    bool ok = decode(&data, error);
    free(packets);
    free(filters);
    return ok;
}

static bool read_cpu(struct cpu_identity *cpu, const char *text)
{
    unsigned family, model, stepping = 0;
    if (sscanf(text, "%u/%u/%u", &family, &model, &stepping) < 2)
        return false;
    *cpu = (struct cpu_identity){.family = (uint16_t)family,
                                 .model = (uint8_t)model,
                                 .stepping = (uint8_t)stepping,
                                 .intel = true};
    return true;
}

static bool read_option(struct input *input, const char *name, const char *value)
{
    const struct {
        const char *name;
        uint64_t *number;
    } numbers[] = {{"--filter:addr0_cfg", &input->filter},
                   {"--filter:addr0_a", &input->first},
                   {"--filter:addr0_b", &input->last}};
    if (strcmp(name, "--cpu") == 0)
        return strcmp(value, "none") == 0 || read_cpu(&input->cpu, value);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (strcmp(name, numbers[i].name) != 0)
            continue;
        *numbers[i].number = strtoull(value, NULL, 0);
        return true;
    }
    return false;
}

static bool read_arguments(struct input *input, int argc, char **argv)
{
    int first = 1;
    for (; first + 1 < argc && argv[first][0] == '-'; first += 2)
        if (!read_option(input, argv[first], argv[first + 1]))
            return false;
    if (argc - first != 3 || input->filter > 1)
        return false;
    input->code_path = argv[first];
    input->address = strtoull(argv[first + 1], NULL, 0);
    input->packets_path = argv[first + 2];
    return true;
}

int main(int argc, char **argv)
{
    struct input input = {0};
    if (!read_arguments(&input, argc, argv)) {
        fprintf(stderr,
                "usage: %s [--cpu FAMILY/MODEL[/STEPPING]] [--filter:addr0_cfg 1 "
                "--filter:addr0_a FIRST --filter:addr0_b LAST] FILE.bin ADDRESS FILE.pt\n",
                argv[0]);
        return 2;
    }
    struct error error;
    if (judge(&input, &error))
        return EXIT_SUCCESS;
    fprintf(stderr, "%s\n", error.text);
    return EXIT_FAILURE;
}
