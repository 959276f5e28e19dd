/* A tree, a sort and a switch, for profiles by line: recursion, functions inlined into others, templates. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>
struct Node {
    int key;
    Node *left = nullptr, *right = nullptr;
};
static inline int weigh(int key)
{
    if (key % 3 == 0)
        return key / 3;
    return key & 7 ? key + 1 : key - 1;
}
__attribute__((noinline)) Node *insert(Node *node, int key)
{
    if (!node) {
        Node *made = new Node;
        made->key = key;
        return made;
    }
    if (key < node->key)
        node->left = insert(node->left, key);
    else
        node->right = insert(node->right, key);
    return node;
}
__attribute__((noinline)) long sum(const Node *node)
{
    return node ? weigh(node->key) + sum(node->left) + sum(node->right) : 0;
}
static inline int pick(unsigned &seed)
{
    seed = seed * 1103515245 + 12345;
    return (seed >> 16) & 0x3ff;
}
int main(int count, char **all)
{
    unsigned seed = 7;
    Node *root = nullptr;
    std::vector<int> values;
    for (int i = 0; i < 500; i++) {
        root = insert(root, pick(seed));
        values.push_back(pick(seed));
    }
    std::sort(values.begin(), values.end());
    long total = sum(root);
    for (int v : values) {
        switch (v % 5) {
        case 0:
            total += weigh(v);
            break;
        case 1:
            total -= v;
            break;
        default:
            total ^= v;
        }
    }
    std::printf("%ld\n", total);
    return 0;
}
