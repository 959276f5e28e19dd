/* Loaded by throw_across_libraries. */
static volatile int cleaned;

struct guard {
    ~guard()
    {
        cleaned = cleaned + 1;
    }
};

extern "C" int count_cleaned()
{
    return cleaned;
}

/* Calls the program at the bottom; what it throws passes through, or is caught here when it is
 * even. */
extern "C" int pass(int (*callback)(int), int depth)
{
    guard here;
    volatile int level = depth;
    if (depth > 0)
        return pass(callback, depth - 1) + (level == depth);
    try {
        return callback(depth);
    } catch (int value) {
        if (value % 2)
            throw;
        return value;
    }
}
