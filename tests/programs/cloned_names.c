/* A function of C++ as compilers name it, with a clone of it, its cold part, and a coroutine with its parts; and a function of
 * which there is only a clone. Each is called once: for tests of what a plain name means. */
#define NAMED(name, symbol)                                                                        \
    int name(int) __asm__(symbol);                                                                 \
    __attribute__((noinline)) int name(int value)                                                  \
    {                                                                                              \
        __asm__ volatile("");                                                                      \
        return value;                                                                              \
    }

NAMED(request, "_Z7requesti")
NAMED(request_clone, "_Z7requesti.constprop.0")
NAMED(request_part, "_Z7requesti.part.0")
NAMED(request_cold, "_Z7requesti.cold")
NAMED(wait_for, "_Z8wait_fori")
NAMED(wait_for_actor, "_Z8wait_forPZ8wait_foriE18_Z8wait_fori.Frame.actor")
NAMED(wait_for_destroy, "_Z8wait_forPZ8wait_foriE18_Z8wait_fori.Frame.destroy")
NAMED(cloned_alone, "_Z12cloned_alonei.constprop.0")

int main(void)
{
    return request(1) + request_clone(2) + request_part(3) + request_cold(4) + wait_for(5) +
                       wait_for_actor(6) + wait_for_destroy(7) + cloned_alone(8) ==
                   36
               ? 0
               : 1;
}
