// inlined_program ROUNDS: containers and algorithms of the C++ library, of which -O2 inlines most:
// for bench/run --only inlined.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

struct Point {
    int x, y;
    int norm() const { return x * x + y * y; }
    bool operator<(const Point &other) const { return norm() < other.norm(); }
};

struct Shape {
    virtual ~Shape() {}
    virtual double area() const = 0;
};

struct Square : Shape {
    double side;
    explicit Square(double side) : side(side) {}
    double area() const override { return side * side; }
};

struct Disc : Shape {
    double radius;
    explicit Disc(double radius) : radius(radius) {}
    double area() const override { return 3.14159 * radius * radius; }
};

static int hash_of(const std::string &text)
{
    int hash = 0;
    for (char letter : text)
        hash = hash * 31 + letter;
    return hash;
}

static long sort_points(int round)
{
    std::vector<Point> points;
    for (int i = 0; i < 200; i++)
        points.push_back({(i * 7919 + round) % 1009, i * 104729 % 997});
    std::sort(points.begin(), points.end());
    long sum = 0;
    for (auto &point : points)
        sum += std::clamp(point.norm() % 97, 3, 80);
    return sum;
}

static long count_words()
{
    std::map<std::string, int> words;
    std::unordered_map<int, int> lengths;
    for (int i = 0; i < 200; i++) {
        words["k" + std::to_string(i % 37)] += hash_of(std::to_string(i));
        lengths[i * 31 % 57]++;
    }
    return (long)(words.size() + lengths.size());
}

static long add_areas()
{
    std::vector<std::unique_ptr<Shape>> shapes;
    for (int i = 0; i < 50; i++)
        if (i & 1)
            shapes.emplace_back(new Square(i));
        else
            shapes.emplace_back(new Disc(i));
    double sum = 0;
    for (auto &shape : shapes)
        sum += shape->area();
    return (long)sum;
}

int main(int argc, char **argv)
{
    long total = 0;
    for (int round = 0; round < (argc > 1 ? atoi(argv[1]) : 100); round++)
        total += sort_points(round) + count_words() + add_areas();
    std::printf("%ld\n", total);
}
