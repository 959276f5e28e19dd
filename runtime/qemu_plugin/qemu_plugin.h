/* The part of qemu's plugin interface that we use.
 *
 * Debian ships qemu with plugins enabled but without include/qemu/qemu-plugin.h, so the few
 * declarations are here, written by us. The symbols are resolved from the qemu executable when it
 * loads the plugin.
 *
 * Versions of the interface, from the change log in that header:
 *   1  qemu 4.2 to 8.2
 *   2  qemu 9.0: the inline operations and the vcpu counts changed
 *   3  qemu 9.1: qemu_plugin_insn_data copies into a buffer
 *   4+ qemu 9.2: additions
 * The declarations here are the same in all of them: instruction bytes are read from guest memory
 * (in user mode it is our own) instead of with qemu_plugin_insn_data. qemu only requires a version
 * that it still supports, which plugin.c determines when it is loaded. Tested with qemu 7.2; newer
 * ones follow their published header.
 */
#ifndef MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_QEMU_PLUGIN_H
#define MAGIC_TRACE_RUNTIME_QEMU_PLUGIN_QEMU_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QEMU_PLUGIN_EXPORT __attribute__((visibility("default")))

struct qemu_plugin_tb;   /* a translation block: a basic block, or a part of one */
struct qemu_plugin_insn; /* one instruction of it; valid during the translation callback */

enum qemu_plugin_cb_flags {
    QEMU_PLUGIN_CB_NO_REGS, /* the callback touches no register through the interface */
    QEMU_PLUGIN_CB_R_REGS,
    QEMU_PLUGIN_CB_RW_REGS,
};

struct qemu_info {
    const char *target_name; /* "x86_64" */
    struct {
        int min, cur;
    } version;
    bool system_emulation;
};

typedef void qemu_translated(uint64_t id, struct qemu_plugin_tb *block);
typedef void qemu_executed(unsigned int vcpu, void *data);
typedef void qemu_syscall(uint64_t id, unsigned int vcpu, int64_t number, uint64_t a1, uint64_t a2,
                          uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7,
                          uint64_t a8);
typedef void qemu_syscall_returned(uint64_t id, unsigned int vcpu, int64_t number, int64_t result);

/* Ours, called by qemu. */
QEMU_PLUGIN_EXPORT extern int qemu_plugin_version;
QEMU_PLUGIN_EXPORT int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc,
                                           char **argv);

/* qemu's, called by us. */
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, qemu_translated *callback);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block, qemu_executed *callback,
                                          enum qemu_plugin_cb_flags flags, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *instruction,
                                            qemu_executed *callback,
                                            enum qemu_plugin_cb_flags flags, void *data);
void qemu_plugin_register_vcpu_syscall_cb(uint64_t id, qemu_syscall *callback);
void qemu_plugin_register_vcpu_syscall_ret_cb(uint64_t id, qemu_syscall_returned *callback);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *instruction);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *instruction);

/* Path of the program, for free(); not to be called while the plugin is being installed. */
const char *qemu_plugin_path_to_binary(void);

#endif
