/* DIR/soft/control as the recorder sees it: the options of a running recording, its freeze switch,
 * its log.
 *
 * The layout is shared.h's. Made by qemu.c before the program starts; opened again by salvage.
 */
#ifndef MAGIC_TRACE_ENGINE_QEMU_CONTROL_H
#define MAGIC_TRACE_ENGINE_QEMU_CONTROL_H

#include "base/error.h"
#include "base/file.h"
#include "engine/packets/recorded.h"
#include "engine/qemu/shared.h"

#include <stdbool.h>

/* Makes DIR/soft with the control file, and DIR/images. The disk space for the options and the
 * first step of the log is allocated, so that no traced process can fault on a full disk. NULL on
 * error; unmap with control_close. */
struct qemu_control *control_create(const char *directory, const struct qemu_options *options,
                                    struct error *error);

/* Of a recording that another magic-trace began: checked for magic and version. ERROR_NOT_FOUND
 * when there is none. */
struct qemu_control *control_open(const char *directory, struct error *error);

/* Every ring ends in order at its next packet, and the time is recorded; without effect if already
 * frozen. The traced programs run on. */
void control_freeze(struct qemu_control *control);

/* What the collector needs of a frozen recording, whose file is mapped in `view`: all but `directory`,
 * `folder` and `watched`. */
struct recorded control_recorded(const struct qemu_control *control, const struct file_view *view);

void control_close(struct qemu_control *control);

#endif
