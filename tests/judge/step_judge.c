/* The branches that a program takes, as single-stepping sees them: the judge of what an engine recorded.
 *
 *   step_judge COMMAND [ARGUMENT ...]
 *
 * Runs COMMAND without address space randomization and prints to standard error, one line each, from where to where every
 * taken branch of its first thread led, in hexadecimal digits, as `magic-trace dump -branches` does after the thread's
 * number. System calls are no branches; signals are passed on, and what they lead to is none either. Exit status: COMMAND's;
 * 128 + N when signal N ended it.
 */
#include "x86/instruction.h"

#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
