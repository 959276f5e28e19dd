/* Fuzz target: any bytes as an object file that was mapped as code. Its functions, names and lines
 * are asked for all over the mapping; every answer must hold the address it was asked about. */
#include "asked_symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct mapped_object object;
    mapped_object_make(&object, bytes, size);
    ask_symbols(&object);
    mapped_object_free(&object);
    return 0;
}
