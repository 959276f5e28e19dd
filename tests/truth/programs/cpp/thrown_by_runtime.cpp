/* Exceptions thrown by the runtime and library itself: bad_cast, bad_typeid, bad_alloc,
 * out_of_range, bad_function. */
/* truth: -O0 -g; -O2; strip -O2; compiler=clang++ -std=c++17 -O2 */
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <vector>

struct animal {
    virtual ~animal() = default;
};
struct dog : animal {
};
struct cat : virtual animal {
};

static animal *const volatile nobody = nullptr;
static volatile std::size_t huge = SIZE_MAX / 4;
static volatile int outside = 10;

[[gnu::noinline]] static int misuse(int kind, animal *animal)
{
    static const std::vector<int> numbers(5);
    static const std::map<int, int> map = {{1, 2}};
    struct animal *no_animal = nobody;
    switch (kind) {
    case 0:
        return &dynamic_cast<dog &>(*animal) != nullptr;
    case 1:
        return typeid(*no_animal) == typeid(dog);
    case 2:
        return std::vector<char>(huge)[7];
    case 3:
        return numbers.at(static_cast<std::size_t>(outside));
    case 4:
        return std::function<int(int)>()(1);
    case 5:
        return map.at(outside + 1);
    case 6:
        return std::string("short").substr(static_cast<std::size_t>(outside))[0];
    default:
        return std::stoi("no number");
    }
}

[[gnu::noinline]] static int dive(int depth, int kind, animal *animal)
{
    volatile int here = depth;
    return depth == 0 ? misuse(kind, animal) : dive(depth - 1, kind, animal) + here;
}

[[gnu::noinline]] static int classify(int depth, int kind, animal *animal)
{
    try {
        return dive(depth, kind, animal) * 0 - 1;
    } catch (const std::bad_cast &) {
        return 0;
    } catch (const std::bad_typeid &) {
        return 1;
    } catch (const std::bad_alloc &) {
        return 2;
    } catch (const std::bad_function_call &) {
        return 4;
    } catch (const std::out_of_range &) {
        return kind == 3 || kind == 5 || kind == 6 ? kind : -1;
    } catch (const std::invalid_argument &) {
        return 7;
    }
}

int main()
{
    int right = 0;
    cat tom;
    for (int i = 0; i < 64; i++)
        right += classify(i / 2, i % 8, &tom) == i % 8;
    std::printf("right %d, tom is %s dog\n", right,
                dynamic_cast<dog *>(static_cast<animal *>(&tom)) ? "a" : "no");
    return right == 64 ? 0 : 1;
}
