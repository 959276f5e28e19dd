#include "digits_packets.h"

#include "packet/encoder.h"

#include <stdlib.h>
#include <string.h>

/* The labels of digits_code.S. */
typedef const uint8_t label[];
extern label play_rounds, one_round, at_next, at_round_done, at_written, at_not_stopped, at_over,
    at_advance;
extern label at_pace, at_paced, at_function, at_call_function, at_function_done, at_no_more;
extern label at_round_end, at_hundred_end, at_fifty_end;
extern label digit_0, digit_1, digit_2, digit_3, digit_4, digit_5, digit_6, digit_7, digit_8,
    digit_9;
extern label at_loop_0, at_loop_1, at_loop_2, at_loop_3, at_loop_4, at_loop_5, at_loop_6, at_loop_7,
    at_loop_8, at_loop_9;
extern label at_loop_end_0, at_loop_end_1, at_loop_end_2, at_loop_end_3, at_loop_end_4,
    at_loop_end_5, at_loop_end_6, at_loop_end_7, at_loop_end_8, at_loop_end_9;
extern label at_digit_end_0, at_digit_end_1, at_digit_end_2, at_digit_end_3, at_digit_end_4,
    at_digit_end_5, at_digit_end_6, at_digit_end_7, at_digit_end_8, at_digit_end_9;
void hundred(void);
void fifty(void);

enum {
    DECIMAL = 10,
    MOST_PACKETS_PER_ROUND = 512, /* bytes, far more than there are */
    LENGTHS = 1,
};

static const uint64_t time_to_fill_in = 0x00eeeeeeeeeeeeee;

/* Where a block with its one length lies: in allocated memory, as all of struct describer. */
struct block {
    _Alignas(struct pt_code_block) uint8_t bytes[sizeof(struct pt_code_block) + LENGTHS];
};

struct digit_blocks {
    struct block first, again, end;
};

struct describer {
    struct pt_encoder encoder;
    struct pt_encoder_owner owner;
    _Atomic uint32_t stop;
    struct block entry, next, round_done, written, not_stopped, advance, pace, paced;
    struct block round, function, call_function, function_done, no_more;
    struct block hundred, fifty;
    struct digit_blocks digits[DECIMAL];
};

static struct pt_code_block *code_of(struct block *block)
{
    return (struct pt_code_block *)block->bytes;
}

static uint64_t unknown_time(struct pt_encoder_owner *owner)
{
    return time_to_fill_in;
}

static bool no_room(struct pt_encoder_owner *owner)
{
    return false;
}

static void describe(struct block *block, const uint8_t *from, const uint8_t *to,
                     enum pt_code_block_kind kind, const uint8_t *target)
{
    *code_of(block) = (struct pt_code_block){
        .pc = (uintptr_t)from,
        .end = (uintptr_t)to,
        .kind = kind,
        .instructions = 1, /* one length is all that is asked for here */
        .target = target ? (uintptr_t)target : PT_NOWHERE,
    };
    pt_code_block_describe(code_of(block));
}

static void describe_play(struct describer *it)
{
    describe(&it->entry, play_rounds, at_round_done, PT_BLOCK_CALL, one_round);
    describe(&it->next, at_next, at_round_done, PT_BLOCK_CALL, one_round);
    describe(&it->round_done, at_round_done, at_written, PT_BLOCK_FAR, NULL);
    describe(&it->written, at_written, at_not_stopped, PT_BLOCK_CONDITIONAL, at_over);
    describe(&it->not_stopped, at_not_stopped, at_advance, PT_BLOCK_CONDITIONAL, at_over);
    describe(&it->advance, at_advance, at_pace, PT_BLOCK_CONDITIONAL, at_next);
    describe(&it->pace, at_pace, at_paced, PT_BLOCK_FAR, NULL);
    describe(&it->paced, at_paced, at_over, PT_BLOCK_JUMP, at_next);
}

static void describe_round(struct describer *it)
{
    describe(&it->round, one_round, at_call_function, PT_BLOCK_CONDITIONAL, at_no_more);
    describe(&it->function, at_function, at_call_function, PT_BLOCK_CONDITIONAL, at_no_more);
    describe(&it->call_function, at_call_function, at_function_done, PT_BLOCK_INDIRECT_CALL, NULL);
    describe(&it->function_done, at_function_done, at_no_more, PT_BLOCK_JUMP, at_function);
    describe(&it->no_more, at_no_more, at_round_end, PT_BLOCK_RETURN, NULL);
    describe(&it->hundred, (const uint8_t *)hundred, at_hundred_end, PT_BLOCK_RETURN, NULL);
    describe(&it->fifty, (const uint8_t *)fifty, at_fifty_end, PT_BLOCK_RETURN, NULL);
}

static void describe_digits(struct describer *it)
{
    static const struct {
        const uint8_t *begin, *loop, *loop_end, *end;
    } labels[DECIMAL] = {
        {digit_0, at_loop_0, at_loop_end_0, at_digit_end_0},
        {digit_1, at_loop_1, at_loop_end_1, at_digit_end_1},
        {digit_2, at_loop_2, at_loop_end_2, at_digit_end_2},
        {digit_3, at_loop_3, at_loop_end_3, at_digit_end_3},
        {digit_4, at_loop_4, at_loop_end_4, at_digit_end_4},
        {digit_5, at_loop_5, at_loop_end_5, at_digit_end_5},
        {digit_6, at_loop_6, at_loop_end_6, at_digit_end_6},
        {digit_7, at_loop_7, at_loop_end_7, at_digit_end_7},
        {digit_8, at_loop_8, at_loop_end_8, at_digit_end_8},
        {digit_9, at_loop_9, at_loop_end_9, at_digit_end_9},
    };
    for (int n = 0; n < DECIMAL; n++) {
        struct digit_blocks *digit = &it->digits[n];
        describe(&digit->first, labels[n].begin, labels[n].loop_end, PT_BLOCK_CONDITIONAL,
                 labels[n].loop);
        describe(&digit->again, labels[n].loop, labels[n].loop_end, PT_BLOCK_CONDITIONAL,
                 labels[n].loop);
        describe(&digit->end, labels[n].loop_end, labels[n].end, PT_BLOCK_RETURN, NULL);
    }
}

/* An encoder that knows nothing: its first packet is a PSB. */
static void begin(struct describer *it, uint8_t *packets, uint64_t size, uint32_t psb_interval,
                  uint8_t bus_ratio)
{
    it->owner = (struct pt_encoder_owner){.time = unknown_time, .make_room = no_room};
    it->encoder = (struct pt_encoder){
        .packets = packets,
        .mask = UINT64_MAX,
        .limit = size - PT_ENCODER_SLACK,
        .owner = &it->owner,
        .stop = &it->stop,
        .coarse_time = 1,
    };
    pt_encoder_begin(&it->encoder, bus_ratio, psb_interval);
}

static void step(struct describer *it, struct block *block)
{
    pt_encoder_step_slow(&it->encoder, code_of(block));
    if (code_of(block)->kind == PT_BLOCK_FAR)
        pt_encoder_disable(&it->encoder);
}

static void step_digit(struct describer *it, unsigned n)
{
    step(it, &it->digits[n].first);
    for (unsigned i = 0; i < n; i++)
        step(it, &it->digits[n].again);
    step(it, &it->digits[n].end);
}

static round_function digit_function(struct describer *it, unsigned n)
{
    return (round_function)(uintptr_t)code_of(&it->digits[n].first)->pc;
}

static void call(struct describer *it, round_function function)
{
    if (function == hundred)
        step(it, &it->hundred);
    else if (function == fifty)
        step(it, &it->fifty);
    for (unsigned n = 0; n < DECIMAL; n++)
        if (function == digit_function(it, n))
            step_digit(it, n);
}

static void step_round(struct describer *it, const round_function *functions)
{
    step(it, &it->round);
    for (; *functions; functions++) {
        step(it, &it->call_function);
        call(it, *functions);
        step(it, &it->function_done);
        step(it, &it->function);
    }
    step(it, &it->no_more);
    step(it, &it->round_done);
}

static void list_functions(struct describer *it, uint64_t number,
                           round_function functions[FUNCTIONS])
{
    uint64_t rest = number;
    for (int place = DIGITS - 1; place >= 0; place--, rest /= DECIMAL)
        functions[place] = digit_function(it, rest % DECIMAL);
    if (number % 100 == 0)
        functions[DIGITS] = hundred;
    else if (number % 50 == 0)
        functions[DIGITS] = fifty;
}

/* What lies between two rounds. */
static void step_between(struct describer *it, bool paced)
{
    step(it, &it->written);
    step(it, &it->not_stopped);
    step(it, &it->advance);
    if (paced) {
        step(it, &it->pace);
        step(it, &it->paced);
    }
    step(it, &it->next);
}

static void write_rounds(struct describer *it, struct play *play, uint64_t last_round,
                         uint32_t psb_interval, uint8_t bus_ratio)
{
    uint8_t *packets = play->packets;
    begin(it, packets, MOST_PACKETS_PER_ROUND, psb_interval, bus_ratio);
    for (uint64_t number = 0; number <= last_round; number++) {
        struct played_round *played = &play->rounds[number];
        list_functions(it, number, play->functions[number]);
        if (number == 1)
            begin(it, packets, last_round * MOST_PACKETS_PER_ROUND, psb_interval, bus_ratio);
        uint64_t head = it->encoder.head;
        if (number == 0)
            step(it, &it->entry);
        else
            step_between(it, play->pace != NULL);
        step_round(it, play->functions[number]);
        *played = (struct played_round){play->functions[number], packets, it->encoder.head - head};
        packets += played->length;
    }
}

int play_prepare(struct play *play, uint64_t last_round, uint32_t psb_interval, uint8_t bus_ratio,
                 const struct timespec *pace)
{
    struct describer *describer = calloc(1, sizeof(*describer));
    *play = (struct play){
        .pace = pace,
        .rounds = calloc(last_round + 1, sizeof(*play->rounds)),
        .functions = calloc(last_round + 1, sizeof(*play->functions)),
        .packets = calloc(last_round + 1, MOST_PACKETS_PER_ROUND),
    };
    int good = describer && play->rounds && play->functions && play->packets;
    if (good) {
        describe_play(describer);
        describe_round(describer);
        describe_digits(describer);
        write_rounds(describer, play, last_round, psb_interval, bus_ratio);
        play->next = play->rounds;
        play->again = play->rounds + 1;
        play->end = play->rounds + last_round + 1;
    }
    free(describer);
    return good;
}

void play_free(struct play *play)
{
    free(play->rounds);
    free(play->functions);
    free(play->packets);
}
