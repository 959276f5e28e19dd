/* A fiber's stack that is moved to other memory within a selected function, as Go makes a goroutine's stack larger, while a signal is handled
 * on an alternate stack that lies further up than the stack on which the moving code runs. For recordings of some functions alone (-only).
 *
 * Two fibers call chosen(), which calls leaf() twice. The first yields in between, the second is moved and returns. Then the first one goes
 * on. Prints the sum.
 */
#include "change_stack.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { STACK = 16 << 10, FIRST = 0, SECOND_LATER, MOVER, ALTERNATE, SECOND, STACKS };

static uint8_t stacks[STACKS][STACK] __attribute__((aligned(16)));
static volatile unsigned long sum;

/* Used by the code below. */
void *own_place, *scheduler, *top_of_mover;
int is_moved;

void run_fiber(void);

/* All of what a fiber has on its stack is here: nothing of it points into the stack. */
__asm__(".text\n"
        ".type run_fiber, @function\n"
        "run_fiber:\n"
        "    call chosen\n"
        "    mov own_place(%rip), %rdi\n"
        "    mov scheduler(%rip), %rsi\n"
        "    call change_stack\n"
        "    ud2\n"
        ".size run_fiber, . - run_fiber\n"
        ".type chosen, @function\n"
        "chosen:\n"
        "    push %rbx\n"
        "    mov $1, %edi\n"
        "    call leaf\n"
        "    call wait_or_move\n"
        "    mov $2, %edi\n"
        "    call leaf\n"
        "    pop %rbx\n"
        "    ret\n"
        ".size chosen, . - chosen\n"
        ".type wait_or_move, @function\n"
        "wait_or_move:\n"
        "    cmpl $0, is_moved(%rip)\n"
        "    jne grow_stack\n"
        "    mov own_place(%rip), %rdi\n"
        "    mov scheduler(%rip), %rsi\n"
        "    jmp change_stack\n"
        ".size wait_or_move, . - wait_or_move\n"
        ".type grow_stack, @function\n"
        "grow_stack:\n"
        "    mov %rsp, %rdi\n"
        "    mov top_of_mover(%rip), %rsp\n"
        "    call move_stack\n"
        "    mov %rax, %rsp\n"
        "    ret\n"
        ".size grow_stack, . - grow_stack\n");

__attribute__((noinline, used)) void leaf(unsigned long number)
{
    sum += number;
}

static void handle(int signal)
{
    (void)signal;
    for (unsigned long i = 0; i < 100000; i++)
        sum += i % 2;
}

/* On the mover's stack. Where the old stack was, something else will be. Returns the new stack pointer. */
__attribute__((used)) uint8_t *move_stack(uint8_t *pointer)
{
    size_t used = (size_t)(stacks[SECOND] + STACK - pointer);
    uint8_t *moved = stacks[SECOND_LATER] + STACK - used;
    raise(SIGUSR1);
    memcpy(moved, pointer, used);
    memset(pointer, 0, used);
    return moved;
}

static void *first_place(int stack)
{
    enum { REGISTERS = 6 };
    uint64_t *top = (uint64_t *)(stacks[stack] + STACK);
    *--top = 0;
    *--top = (uint64_t)run_fiber;
    return memset(top - REGISTERS, 0, REGISTERS * sizeof *top);
}

static void *sleep_until(void *ended)
{
    while (sem_wait(ended) != 0)
        ;
    return NULL;
}

static void go_on_with(void *fiber)
{
    own_place = fiber;
    change_stack(&scheduler, *(void **)fiber);
}

int main(void)
{
    const stack_t alternate = {.ss_sp = stacks[ALTERNATE], .ss_size = STACK};
    const struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    void *first = first_place(FIRST), *second = first_place(SECOND);
    pthread_t thread; /* so that the process has another one, which might go on with a fiber */
    sem_t ended;
    sem_init(&ended, 0, 0);
    pthread_create(&thread, NULL, sleep_until, &ended);
    sigaltstack(&alternate, NULL);
    sigaction(SIGUSR1, &action, NULL);
    top_of_mover = stacks[MOVER] + STACK;
    go_on_with(&first);
    is_moved = 1;
    go_on_with(&second);
    is_moved = 0;
    getppid();
    go_on_with(&first);
    sem_post(&ended);
    pthread_join(thread, NULL);
    printf("%lu\n", sum);
    return 0;
}
