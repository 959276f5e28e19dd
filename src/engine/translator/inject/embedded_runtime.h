/* The ELF file of the translator's runtime, made by runtime/translator/. Read by runtime_image.c; the bytes come from
 * embed_runtime.py.
 */
#ifndef MAGIC_TRACE_ENGINE_TRANSLATOR_EMBEDDED_RUNTIME_H
#define MAGIC_TRACE_ENGINE_TRANSLATOR_EMBEDDED_RUNTIME_H

#include <stddef.h>

extern const unsigned char embedded_runtime[];
extern const size_t embedded_runtime_size;

#endif
