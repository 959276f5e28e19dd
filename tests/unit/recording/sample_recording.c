#include "sample_recording.h"

#include "base/file.h"
#include "base/memory.h"

#include <elf.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

/* Encodings: Intel SDM volume 3, chapter "Intel Processor Trace", section on packet definitions. */
const uint8_t sample_packets[] = {
    0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
    0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, /* PSB */
    0x19, 0x40, 0x42, 0x0f, 0x00, 0x00, 0x00, 0x00, /* TSC 1000000 */
    0x02, 0x03, 26,   0x00,                         /* CBR */
    0x99, 0x01,                                     /* MODE.Exec: 64 bits */
    0x02, 0x23,                                     /* PSBEND */
    0x19, 0x50, 0x42, 0x0f, 0x00, 0x00, 0x00, 0x00, /* TSC 1000016 */
    0x71, 0x00, 0x01, 0x40, 0x00, 0x00, 0x00,       /* TIP.PGE 0x400100 */
    0x0e,                                           /* TNT: taken, taken */
    0x01,                                           /* TIP.PGD without an address */
};
const size_t sample_packets_size = sizeof sample_packets;

static const uint8_t sample_code[] = {
    0x74, 0x02,                   /* 0x100: je 0x104 */
    0x90, 0x90,                   /* 0x102: nop; nop */
    0xe8, 0x01, 0x00, 0x00, 0x00, /* 0x104: call 0x10a */
    0xc3,                         /* 0x109: ret */
    0xc3,                         /* 0x10a: ret */
};

const struct pt_setup sample_setup = {
    .clock = {.zero = 0, .mult = 1 << 10, .shift = 10}, /* 1 tick is 1 ns */
    .has_clock = true,
    .config = 0x2401,
    .tsc_bit = 0x400,
    .no_return_compression_bit = 0x800,
    .mtc_bit = 0x200,
    .mtc_period_bits = 0x3c000,
    .cyc_bit = 2,
    .max_nonturbo_ratio = 26,
};

enum { SECOND_TID = SAMPLE_PID + 1, NO_CPU = -1 };

const struct sideband_record sample_records[] = {
    {.kind = SIDEBAND_NAME,
     .pid = SAMPLE_PID,
     .tid = SAMPLE_PID,
     .cpu = NO_CPU,
     .name = {.name = "tiny", .exec = true}},
    {.kind = SIDEBAND_MAPPING,
     .time = {900000},
     .pid = SAMPLE_PID,
     .tid = SAMPLE_PID,
     .cpu = NO_CPU,
     .mapping = {.start = SAMPLE_CODE_ADDRESS,
                 .length = 0x1000,
                 .inode = 77,
                 .device_major = 8,
                 .device_minor = 1,
                 .protection = PROT_READ | PROT_EXEC,
                 .flags = MAP_PRIVATE,
                 .executable = true,
                 .path = "/nonexistent/tiny"}},
    {.kind = SIDEBAND_MAPPING,
     .time = {900001},
     .pid = SAMPLE_PID,
     .tid = SAMPLE_PID,
     .cpu = NO_CPU,
     .mapping = {.start = 0x500000,
                 .length = 0x2000,
                 .file_offset = 0x3000,
                 .protection = PROT_READ | PROT_WRITE,
                 .flags = MAP_SHARED,
                 .path = "//anon"}},
    {.kind = SIDEBAND_FORK,
     .time = {900002},
     .pid = SAMPLE_PID,
     .tid = SECOND_TID,
     .cpu = NO_CPU,
     .fork = {.parent_pid = SAMPLE_PID, .parent_tid = SAMPLE_PID}},
    {.kind = SIDEBAND_TRACE_START,
     .time = {900003},
     .pid = SAMPLE_PID,
     .tid = SAMPLE_PID,
     .cpu = NO_CPU},
    {.kind = SIDEBAND_CONTEXT_SWITCH,
     .time = {900004},
     .pid = SAMPLE_PID,
     .tid = SECOND_TID,
     .cpu = NO_CPU,
     .context_switch = {.out = true}},
    {.kind = SIDEBAND_AUX,
     .time = {1000020},
     .pid = SAMPLE_PID,
     .tid = SAMPLE_PID,
     .cpu = NO_CPU,
     .aux = {.offset = 64, .size = 49}},
    {.kind = SIDEBAND_EXIT,
     .time = {1000021},
     .pid = SAMPLE_PID,
     .tid = SECOND_TID,
     .cpu = NO_CPU,
     .fork = {.parent_pid = 1, .parent_tid = 1}},
};
const size_t sample_record_count = sizeof sample_records / sizeof *sample_records;

static void write_file(const char *path, const void *bytes, size_t size)
{
    int descriptor = file_create_private(path, NULL);
    assert_true(descriptor >= 0);
    assert_true(file_write_all(descriptor, bytes, size, path, NULL));
    close(descriptor);
}

void sample_program_write(const char *path)
{
    uint8_t file[0x1000] = {0};
    const Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_EXEC,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_entry = SAMPLE_CODE_ADDRESS + SAMPLE_CODE_OFFSET,
        .e_ehsize = sizeof header,
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_shentsize = sizeof(Elf64_Shdr),
    };
    memcpy(file, &header, sizeof header);
    memcpy(file + SAMPLE_CODE_OFFSET, sample_code, sizeof sample_code);
    write_file(path, file, sizeof file);
}

static void write_chunk(struct perf_data_writer *writer, const struct aux_chunk *chunk)
{
    /* As from a ring that wrapped. */
    const struct iovec parts[] = {
        {(void *)sample_packets, 20},
        {(void *)(sample_packets + 20), sizeof sample_packets - 20},
    };
    assert_true(perf_data_write_aux(writer, chunk, parts, 2, NULL));
}

static void write_record(struct perf_data_writer *writer, struct sideband_record record,
                         const char *program)
{
    if (record.kind == SIDEBAND_MAPPING && record.mapping.executable)
        record.mapping.path = program;
    assert_true(perf_data_write_record(writer, &record, NULL));
}

static void write_chunks_of_threads(struct perf_data_writer *writer)
{
    for (uint32_t ring = 0; ring < 2; ring++) {
        for (uint64_t part = 0; part < 2; part++) {
            const struct aux_chunk chunk = {
                .tid = SAMPLE_PID + ring,
                .cpu = UINT32_MAX,
                .index = ring,
                .offset = part * 64,
                .reference = {1000016},
            };
            write_chunk(writer, &chunk);
        }
    }
}

void sample_recording_write(const char *path, const char *program)
{
    char *const command[] = {"magic-trace", "run", "./tiny", NULL};
    struct perf_data_writer *writer = perf_data_writer_open(path, &sample_setup, command, NULL);
    assert_non_null(writer);
    for (size_t i = 0; i < sample_record_count; i++) {
        write_record(writer, sample_records[i], program);
        if (sample_records[i].kind == SIDEBAND_CONTEXT_SWITCH)
            write_chunks_of_threads(writer);
    }
    assert_true(perf_data_writer_close(writer, NULL));
}

/* The thread comes to the CPU before its packets and leaves it after them. */
static void write_cpu(struct perf_data_writer *writer, uint32_t cpu)
{
    struct sideband_record record = {
        .kind = SIDEBAND_CONTEXT_SWITCH,
        .time = {950000},
        .pid = SAMPLE_PID,
        .tid = SAMPLE_PID + cpu,
        .cpu = cpu,
    };
    write_record(writer, record, NULL);
    record.time.value = 1000900;
    record.context_switch.out = true;
    write_record(writer, record, NULL);
    const struct aux_chunk chunk = {
        .tid = UINT32_MAX, .cpu = cpu, .index = cpu, .reference = {1000016}};
    write_chunk(writer, &chunk);
}

void sample_recording_write_per_cpu(const char *path, const char *program)
{
    struct pt_setup setup = sample_setup;
    setup.per_cpu = true;
    struct perf_data_writer *writer = perf_data_writer_open(path, &setup, NULL, NULL);
    assert_non_null(writer);
    for (size_t i = 0; i < sample_record_count; i++) {
        struct sideband_record record = sample_records[i];
        record.cpu = 0;
        if (record.kind == SIDEBAND_NAME || record.kind == SIDEBAND_MAPPING ||
            record.kind == SIDEBAND_FORK)
            write_record(writer, record, program);
    }
    write_cpu(writer, 0);
    write_cpu(writer, 1);
    assert_true(perf_data_writer_close(writer, NULL));
}

int sample_folder_make(void **state)
{
    char *folder = memory_copy_string("/tmp/recording-test-XXXXXX");
    *state = mkdtemp(folder);
    return *state ? 0 : -1;
}

int sample_folder_remove(void **state)
{
    bool ok = file_remove_tree(*state, NULL);
    free(*state);
    return ok ? 0 : -1;
}
