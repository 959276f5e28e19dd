/* What an input of translator_log_fuzz begins with. */
#ifndef TRANSLATOR_LOG_INPUT_H
#define TRANSLATOR_LOG_INPUT_H

#include <stdint.h>

enum { TRANSLATOR_LOG_CHUNKS = 4 };

struct translator_log_input {
    uint32_t table_size
        [2]; /* bytes of descriptions, which follow; then the log, up to the input's end */
    uint32_t first[2], parent[2];
    uint32_t table; /* of the slot */
    uint32_t reserved;
    uint64_t head;
    uint64_t chunks[TRANSLATOR_LOG_CHUNKS]; /* positions */
};

#endif
