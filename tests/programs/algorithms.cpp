// Containers and algorithms whose callbacks are all called from inlined code: for tests of inlined functions.
#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>
#include <string>
#include <vector>

struct Item {
    int key, weight;
    std::string name;
};

static bool lighter(const Item &a, const Item &b) { return a.weight < b.weight; }
static bool is_odd(const Item &item) { return item.key & 1; }
static int add_weight(int sum, const Item &item) { return sum + item.weight; }
static Item make(int i) { return {i, i * 7919 % 101, "item" + std::to_string(i)}; }

template <class Visit>
static void visit_all(const std::vector<Item> &items, Visit visit)
{
    for (auto &item : items)
        visit(item);
}

int main()
{
    std::vector<Item> items;
    for (int i = 0; i < 300; i++)
        items.push_back(make(i));
    std::sort(items.begin(), items.end(), lighter);
    auto middle = std::stable_partition(items.begin(), items.end(), is_odd);
    std::map<int, std::vector<std::string>> names;
    visit_all(items, [&](const Item &item) { names[item.weight].push_back(item.name); });
    int sum = std::accumulate(items.begin(), middle, 0, add_weight);
    std::printf("%d %zu %d\n", sum, names.size(), (int)std::count_if(items.begin(), items.end(), is_odd));
}
