#include "decode/frequency_changes.h"

void frequency_changes_note(struct frequency_changes *changes, const struct trace_mark *now,
                            struct array *marks)
{
    bool known = changes->last.value != 0;
    if (now->value == changes->last.value)
        return;
    if (known && !changes->reported)
        array_add_all(marks, &changes->last, 1);
    if (known)
        array_add_all(marks, now, 1);
    changes->reported = known;
    changes->last = *now;
}
