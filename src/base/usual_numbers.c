#include "base/usual_numbers.h"

struct usual_number {
    uint64_t first, second;
    uint64_t number;
    unsigned times; /* it came, less those that differed */
};

struct array usual_numbers_none(void)
{
    return array_of(sizeof(struct usual_number));
}

/* What is known of the pair of `seen`; a new pair came 0 times. */
static struct usual_number *find(struct array *numbers, const struct usual_number *seen)
{
    enum { MOST = 64 };
    for (size_t i = 0; i < numbers->count; i++) {
        struct usual_number *known = array_at(numbers, i);
        if (known->first == seen->first && known->second == seen->second)
            return known;
    }
    if (numbers->count == MOST)
        numbers->count = 0;
    array_add_all(numbers, seen, 1);
    return array_at(numbers, numbers->count - 1);
}

/* Times after which a number is the usual one. */
enum { SURE = 4 };

bool usual_numbers_is_sure(const struct array *numbers, uint64_t first, uint64_t second,
                           uint64_t number)
{
    for (size_t i = 0; i < numbers->count; i++) {
        const struct usual_number *known = array_at(numbers, i);
        if (known->first == first && known->second == second)
            return known->number == number && known->times == SURE;
    }
    return false;
}

bool usual_numbers_see(struct array *numbers, uint64_t first, uint64_t second, uint64_t number)
{
    const struct usual_number seen = {.first = first, .second = second, .number = number};
    struct usual_number *known = find(numbers, &seen);
    bool same = known->number == number, sure = known->times == SURE;
    if (same)
        known->times += !sure;
    else if (!sure && known->times-- == 0)
        *known = seen;
    return same || !sure;
}
