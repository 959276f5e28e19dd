/* Exceptions thrown while others are handled: in handlers, nested in one another, and kept in
 * exception_ptr. */
/* truth: -O0 -g; -O2; strip -O2; compiler=clang++ -std=c++17 -O2 */
#include <cstdio>
#include <exception>
#include <stdexcept>

[[gnu::noinline]] static int fail(int depth)
{
    volatile int here = depth;
    if (depth == 0)
        throw std::runtime_error("deep");
    return fail(depth - 1) + here;
}

/* Wraps what comes from below, level by level. */
[[gnu::noinline]] static int wrap(int level)
{
    try {
        return level == 0 ? fail(4) : wrap(level - 1) + 1;
    } catch (...) {
        std::throw_with_nested(std::logic_error("wrapped"));
    }
}

[[gnu::noinline]] static int unwrap(const std::exception &error)
{
    try {
        std::rethrow_if_nested(error);
    } catch (const std::exception &inner) {
        return unwrap(inner) + 1;
    }
    return 1;
}

/* A second exception comes and goes while the first is handled. */
[[gnu::noinline]] static int handle_within_handler(int depth)
{
    try {
        fail(depth);
    } catch (const std::runtime_error &) {
        try {
            fail(2 * depth);
        } catch (const std::exception &) {
            return depth > 0 ? handle_within_handler(depth - 1) + 1 : 1;
        }
    }
    return -1000;
}

[[gnu::noinline]] static int keep(int depth)
{
    std::exception_ptr kept;
    try {
        fail(depth);
    } catch (...) {
        kept = std::current_exception();
    }
    try {
        std::rethrow_exception(kept);
    } catch (const std::runtime_error &) {
        return depth;
    }
}

int main()
{
    int layers = 0, handled = 0, kept = 0;
    for (int i = 0; i < 12; i++) {
        try {
            wrap(i);
        } catch (const std::exception &error) {
            layers += unwrap(error);
        }
        handled += handle_within_handler(i);
        kept += keep(i);
    }
    std::printf("layers %d handled %d kept %d\n", layers, handled, kept);
    return layers == 66 + 24 && handled == 66 + 12 && kept == 66 ? 0 : 1;
}
