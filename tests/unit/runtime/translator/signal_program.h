/* The programs of signal_test.c, and the stand-ins for what lies around the translator's signal code: signal_program.S,
 * signal_stand_in.c. */
#ifndef MAGIC_TRACE_TESTS_UNIT_RUNTIME_TRANSLATOR_SIGNAL_PROGRAM_H
#define MAGIC_TRACE_TESTS_UNIT_RUNTIME_TRANSLATOR_SIGNAL_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Functions of the program, not of the runtime. */
#define PROGRAM __attribute__((section("program_text"), noinline))

/* Makes a system call: by the kernel in a native run, by the runtime in a translated one. */
int64_t program_syscall(int64_t number, ...);

/* Instructions that fault with known registers; what is in rax afterwards. */
uint64_t program_touch(const void *address);
uint64_t program_write(void *address, uint64_t value);
uint64_t program_divide(void);
uint64_t program_undefined(void);
uint64_t program_halt(void);
extern const char program_touch_instruction[], program_touch_after[], program_write_after[],
    program_divide_after[], program_undefined_after[];
/* rt_sigreturn with that stack pointer. */
_Noreturn void program_sigreturn_at(void *stack);
extern const char program_syscall_instruction[], program_sigreturn_instruction[];
extern uint64_t program_syscall_entry, program_sigreturn_entry;

/* Waits until *flag is not 0; in a translated run inside the code cache. */
void program_wait(const volatile int *flag);

/* A handler for rt_sigaction that notes what it began with and calls program_handle (signal_test.c). */
void program_handler(void);
void program_restorer(void);

struct noted {
    uint64_t registers[16]; /* by enum tr_register; 14 and 15 are r14 and r15 */
    uint64_t flags;
};
extern struct noted program_noted;
extern uint8_t program_noted_state[16384]; /* by XSAVE */

/* Runs `function` as the program, with that stack, all registers 0. */
_Noreturn void stand_in_run_native(void *stack, void (*function)(void));
_Noreturn void stand_in_run_translated(void *stack, void (*function)(void));

/* The number of a "system call" by which a translated program asks to go on natively; its argument: whether others keep the
 * runtime's handlers. */
enum { stand_in_let_go_call = 100000 };

/* Called, unless NULL, while the runtime blocks signals: in fork, and when a thread goes on natively. */
extern void (*stand_in_while_blocked)(void);
/* What another thread's rt_sigaction does: `action` is the kernel's struct sigaction. */
void stand_in_change_action(int signal, const void *action);

/* What the runtime logged, in the memory that was given. */
struct stand_in_log {
    unsigned handlers, sigreturns, partials, stops, deaths;
    int death_signal;
    uint64_t death_pc;
    uint64_t handler[5]; /* of the newest TR_HANDLER */
};
extern struct stand_in_log *stand_in_log;

/* A page that the stand-in for code_pages.c protects: a write to it makes it writable again, once. */
extern void *stand_in_protected_page;
extern unsigned stand_in_code_writes;

#endif
