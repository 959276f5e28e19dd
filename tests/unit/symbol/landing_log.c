/* Preloaded into a program: says on standard error where each exception went on.
 *
 * Whoever handles an exception tells the unwinder so by _Unwind_SetIP. One line each: PAD, the
 * object, the return address of the call that the exception passed, the landing pad; addresses are
 * the object's own.
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
