#include "output/json_quoted.h"

#include "base/memory.h"
#include "base/utf8.h"

#include <jansson.h>
#include <stdlib.h>

char *json_quoted(const char *string)
{
    char *repaired = utf8_repaired(string);
    json_t *value = json_string(repaired);
    char *text = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    json_decref(value);
    free(repaired);
    return text ? text : memory_copy_string("\"\"");
}
