/* Fuzz target: any text as a symbol. Its readable name is text of bounded length. */
#include "symbol/demangle/demangle.h"

#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { LONGEST = 64 << 10 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *symbol = memory_allocate(size + 1);
    memcpy(symbol, bytes, size);
    symbol[size] = '\0';
    char *name = demangle(symbol);
    if (!name || (strlen(name) > LONGEST && strcmp(name, symbol) != 0))
        abort();
    free(name);
    free(symbol);
    return 0;
}
