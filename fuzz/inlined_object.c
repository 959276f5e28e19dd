/* What elf_fuzz begins with, besides flow_program: debug information with inlined functions, one
 * inside of another.
 */
int inlined_sum(const int *numbers, int count);

static inline int half(int number)
{
    return number / 2;
}

static inline int rounded(int number)
{
    return number < 0 ? -half(-number) : half(number + 1);
}

int inlined_sum(const int *numbers, int count)
{
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += rounded(numbers[i]) * half(sum);
    return sum;
}
