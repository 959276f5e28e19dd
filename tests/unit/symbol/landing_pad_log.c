/* Preloaded into a program: prints on standard error where each exception continues.
 *
 * A function that handles an exception sets its landing pad by _Unwind_SetIP. One line each: PAD,
 * the object, the return address of the call that the exception unwound, the landing pad; addresses
 * are the object's own.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>

struct _Unwind_Context;
unsigned long _Unwind_GetIP(struct _Unwind_Context *context);
void _Unwind_SetIP(struct _Unwind_Context *context, unsigned long address);

void _Unwind_SetIP(struct _Unwind_Context *context, unsigned long address)
{
    unsigned long from = _Unwind_GetIP(context);
    Dl_info info;
    struct link_map *map;
    if (dladdr1((void *)address, &info, (void **)&map, RTLD_DL_LINKMAP))
        fprintf(stderr, "PAD %s %lx %lx\n", info.dli_fname, from - map->l_addr,
                address - map->l_addr);
    void (*original)(struct _Unwind_Context *, unsigned long) = dlsym(RTLD_NEXT, "_Unwind_SetIP");
    original(context, address);
}
