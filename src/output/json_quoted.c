#include "output/json_quoted.h"

#include "base/memory.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
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

char *json_named_value(const struct named_value *value)
{
    bool is_decimal = (value->text[0] >= '0' && value->text[0] <= '9') || value->text[0] == '-';
    if (value->string)
        return json_quoted(value->string);
    if (value->kind == NAMED_SIGNED)
        return memory_format("%" PRId64, value->signed_number);
    if (value->kind == NAMED_UNSIGNED && is_decimal && value->text[1] != 'x')
        return memory_format("%" PRIu64, value->unsigned_number);
    if (value->kind == NAMED_FLOAT && isfinite(value->real))
        return memory_format("%.17g", value->real);
    return json_quoted(value->text);
}
