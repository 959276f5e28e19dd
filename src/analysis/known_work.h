/* What functions of the C and C++ libraries, of the dynamic linker and of the kernel are known to
 * do, where that is a common reason for a slow call.
 *
 * Sources: glibc's nptl/ and elf/, libstdc++'s libsupc++/guard.cc, Linux's
 * arch/x86/include/asm/idtentry.h.
 */
#ifndef MAGIC_TRACE_ANALYSIS_KNOWN_WORK_H
#define MAGIC_TRACE_ANALYSIS_KNOWN_WORK_H

/* "waiting for a lock" or the like; NULL: an unknown function. */
const char *known_work(const char *function);

#endif
