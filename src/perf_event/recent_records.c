#include "perf_event/recent_records.h"

void recent_records_begin(struct recent_records *records)
{
    records->older = array_of(1);
    records->newer = array_of(1);
}

void recent_records_free(struct recent_records *records)
{
    array_free(&records->older);
    array_free(&records->newer);
}

void recent_records_add(struct recent_records *records, const struct perf_event_header *record)
{
    if (records->newer.count + record->size > RECENT_RECORDS_KEPT) {
        struct array oldest = records->older;
        records->older = records->newer;
        records->newer = oldest;
        records->newer.count = 0;
    }
    array_add_all(&records->newer, record, record->size);
}

void recent_records_clear(struct recent_records *records)
{
    records->older.count = 0;
    records->newer.count = 0;
}
