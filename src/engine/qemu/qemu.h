/* The qemu engine: runs the program under qemu-user with a plugin that emits genuine Intel PT
 * packets.
 *
 * Works on any x86-64 Linux machine, in VMs too; the program runs 5 to 46 times slower than
 * natively. The plugin (plugin/) writes packets into files that it shares with this side
 * (shared.h); this side starts the program (launch.c), waits for it (supervise.c) and turns the
 * files into a recording (collect.c). Listed in registry.c.
 */
#ifndef MAGIC_TRACE_ENGINE_QEMU_QEMU_H
#define MAGIC_TRACE_ENGINE_QEMU_QEMU_H

#include "engine/engine.h"

extern const struct engine qemu_engine;

#endif
