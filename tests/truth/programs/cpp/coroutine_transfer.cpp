/* C++20 coroutines that hand over to each other by symmetric transfer: tail calls through pointers
 * at -O2. */
/* truth: -O0 -g -std=c++20; -O2 -std=c++20; strip -O2 -std=c++20 */
#include <coroutine>
#include <cstdio>

enum { PLAYERS = 3, PASSES = 900 };

struct player {
    struct promise_type {
        player get_return_object()
        {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend()
        {
            return {};
        }
        std::suspend_always final_suspend() noexcept
        {
            return {};
        }
        void return_void()
        {
        }
        void unhandled_exception()
        {
        }
    };
    std::coroutine_handle<> coroutine;
};

struct game {
    std::coroutine_handle<> players[PLAYERS];
    int passes = 0, work_done = 0;
};

struct pass_to {
    std::coroutine_handle<> next;
    bool await_ready() const noexcept
    {
        return false;
    }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<>) const noexcept
    {
        return next;
    }
    void await_resume() const noexcept
    {
    }
};

[[gnu::noinline]] static int work(int depth)
{
    volatile int here = depth;
    return depth == 0 ? 0 : work(depth - 1) + (here == depth);
}

static player play(game &game, int number)
{
    for (;;) {
        game.passes++;
        game.work_done += work(number + 1);
        if (game.passes >= PASSES)
            co_await pass_to{std::noop_coroutine()};
        co_await pass_to{game.players[(number + 1) % PLAYERS]};
    }
}

int main()
{
    game game;
    for (int i = 0; i < PLAYERS; i++)
        game.players[i] = play(game, i).coroutine;
    game.players[0].resume();
    for (int i = 0; i < PLAYERS; i++)
        game.players[i].destroy();
    std::printf("passes %d work %d\n", game.passes, game.work_done);
    return game.passes == PASSES && game.work_done == PASSES / 3 * 6 ? 0 : 1;
}
