/* Intercepts qemu's messages on stderr.
 *
 * The program's stderr belongs to the program alone. And one of the messages is the only notice
 * that a plugin gets of the program's death by a signal: "qemu: uncaught target signal 11
 * (Segmentation fault) - core dumped", written by the thread that the signal is for, with the
 * guest's registers up to date, before qemu kills itself by the same signal (linux-user/signal.c,
 * dump_core_and_abort). It comes for the signals whose default is a core dump.
 */
#ifndef MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_QEMU_MESSAGES_H
#define MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_QEMU_MESSAGES_H

#include <stdint.h>

/* From now on qemu's messages are suppressed; `killed` is called, once, in the dying thread, with
 * the signal's number. Without memory nothing changes. */
void qemu_messages_take_over(void (*killed)(uint32_t signal));

#endif
