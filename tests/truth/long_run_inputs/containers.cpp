// Templates and library headers for a compiler to work on; for tests/truth/long_runs.
#include <map>
#include <vector>

template <typename Key, typename Value>
std::vector<Key> keys(const std::map<Key, Value> &map)
{
    std::vector<Key> result;
    for (const auto &[key, value] : map)
        result.push_back(key);
    return result;
}

int main()
{
    std::map<int, std::vector<int>> table;
    for (int i = 0; i < 100; i++)
        table[i % 7].push_back(i);
    try {
        table.at(8);
    } catch (...) {
        return keys(table).size() == 7 ? 0 : 1;
    }
    return 1;
}
