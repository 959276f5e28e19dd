/* Exceptions out of callbacks that C functions (qsort, bsearch, twalk) called. */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2; compiler=clang++ -std=c++17 -O2 */
#include <cstdio>
#include <cstdlib>
#include <search.h>

static int countdown;

static int compare(const void *left, const void *right)
{
    int a = *static_cast<const int *>(left), b = *static_cast<const int *>(right);
    if (--countdown == 0)
        throw a;
    return (a > b) - (a < b);
}

static void visit(const void *node, VISIT, int depth)
{
    if (depth >= 3)
        throw **static_cast<int *const *>(node);
}

[[gnu::noinline]] static bool throws_in_sort(int after)
{
    int numbers[64];
    for (int i = 0; i < 64; i++)
        numbers[i] = i * 29 % 64;
    countdown = after;
    try {
        std::qsort(numbers, 64, sizeof *numbers, compare);
    } catch (int number) {
        return number >= 0 && number < 64;
    }
    return false;
}

[[gnu::noinline]] static bool throws_in_search(int after)
{
    int numbers[64], key = 63;
    for (int i = 0; i < 64; i++)
        numbers[i] = i;
    countdown = after;
    try {
        std::bsearch(&key, numbers, 64, sizeof *numbers, compare);
    } catch (int number) {
        return number == key;
    }
    return false;
}

[[gnu::noinline]] static bool throws_in_walk(void *root)
{
    try {
        twalk(root, visit);
    } catch (int number) {
        return number < 64;
    }
    return false;
}

int main()
{
    int sorts = 0, searches = 0, walks = 0;
    for (int after = 1; after <= 100; after += 9)
        sorts += throws_in_sort(after);
    for (int after = 1; after <= 5; after++)
        searches += throws_in_search(after);
    static int numbers[64];
    void *root = nullptr;
    countdown = 0;
    for (int i = 0; i < 64; i++) {
        numbers[i] = i;
        tsearch(&numbers[i], &root, compare);
    }
    for (int i = 0; i < 10; i++)
        walks += throws_in_walk(root);
    std::printf("sorts %d searches %d walks %d\n", sorts, searches, walks);
    return sorts == 12 && searches == 5 && walks == 10 ? 0 : 1;
}
