// Throws and catches many exceptions: unwinding runs code of many shapes, in paths that are translated as they come.
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>

static int work(int i)
{
    if (i % 2 == 0)
        throw std::runtime_error("number " + std::to_string(i));
    return i * 3;
}

int main()
{
    int sum = 0;
    std::map<int, std::string> last;
    for (int i = 0; i < 240; i++) {
        try {
            sum += work(i);
        } catch (const std::exception &error) {
            last[i * 7 % 31] = error.what();
        }
    }
    std::printf("%d %zu\n", sum, last.size());
}
