// Handles 400 requests, one of which is slow for the reason that the first argument names, as
// slow_calls.c does, by means of C++.
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#define APART __attribute__((noinline))

enum { REQUESTS = 400, SLOW = 271 };

static volatile unsigned sink;

APART static void step(unsigned amount)
{
    for (unsigned i = 0; i < amount; i++)
        sink = sink + i;
}

APART static void usual_work()
{
    for (int i = 0; i < 20; i++)
        step(20);
}

// ---- exceptions: deep retries

APART static void open_connection(int number)
{
    step(50);
    if (number % 2)
        throw std::runtime_error("refused");
}

APART static void connect(bool is_slow)
{
    for (int i = 0; i < (is_slow ? 120 : 1); i++)
        try {
            open_connection(is_slow);
        } catch (const std::exception &) {
            step(10);
        }
}

// ---- a virtual function that only one request reaches

struct Handler {
    virtual ~Handler() = default;
    virtual void answer() = 0;
};
struct QuickHandler : Handler {
    void answer() override { step(100); }
};
struct SlowHandler : Handler {
    void answer() override
    {
        for (int i = 0; i < 900; i++)
            step(60);
    }
};

APART static void dispatch(bool is_slow)
{
    static QuickHandler quick;
    static SlowHandler slow;
    Handler *handler = is_slow ? static_cast<Handler *>(&slow) : &quick;
    handler->answer();
}

// ---- a container that is rehashed when it grows

static std::unordered_map<unsigned, unsigned> table;

APART static void grow_table(bool is_slow)
{
    table[sink % 500] = 1;
    if (is_slow)
        table.reserve(200000);
}

// ---- a static object that is made at its first use

struct Dictionary {
    std::map<std::string, int> words;
    Dictionary()
    {
        for (int i = 0; i < 900; i++)
            words["word" + std::to_string(i)] = i;
    }
};

APART static int use_dictionary(bool is_slow)
{
    if (!is_slow)
        return 0;
    static Dictionary dictionary;
    return dictionary.words.size();
}

// ---- destructors

APART static void drop_session(bool is_slow)
{
    std::vector<std::unique_ptr<std::string>> session;
    for (int i = 0; i < (is_slow ? 3000 : 3); i++)
        session.push_back(std::make_unique<std::string>(40, 'x'));
}

APART static void handle_request(void (*handle)(bool), bool is_slow)
{
    usual_work();
    handle(is_slow);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *reason;
        void (*handle)(bool);
    } requests[] = {
        {"connect", [](bool is_slow) { connect(is_slow); }},
        {"SlowHandler::answer", [](bool is_slow) { dispatch(is_slow); }},
        {"grow_table", [](bool is_slow) { grow_table(is_slow); }},
        {"Dictionary::Dictionary", [](bool is_slow) { sink = sink + use_dictionary(is_slow); }},
        {"drop_session", [](bool is_slow) { drop_session(is_slow); }},
    };
    for (unsigned i = 0; i < 4000; i++)
        table[i * 7] = i;
    for (auto &request : requests) {
        if (argc < 2 || strcmp(request.reason, argv[1]) != 0)
            continue;
        for (int i = 0; i < REQUESTS; i++)
            handle_request(request.handle, i == SLOW);
        return 0;
    }
    fprintf(stderr, "unknown reason\n");
    return 1;
}
