/* What an instant of a trace is: lost data, or something that happened.
 *
 * Used by what shows marks: the table of functions, the index, the page in a file. A trace says it by
 * the instant's text alone.
 */
#ifndef MAGIC_TRACE_OUTPUT_MARK_KIND_H
#define MAGIC_TRACE_OUTPUT_MARK_KIND_H

enum mark_kind {
    MARK_GAP,   /* it is not known what happened */
    MARK_ERROR, /* likewise, because the recording could not be decoded there */
    MARK_NOTE,  /* something happened: a signal, a value that the program wrote, an event */
};

enum mark_kind mark_kind_of(const char *text);

#endif
