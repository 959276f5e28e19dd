/* The library of lazy_binding.c: its functions call each other through the PLT, because any may be
 * replaced. */
typedef int callback(int);
int binding_walk(int depth, callback *callback);
int binding_sum(int count);
int binding_hook(int value);
int binding_next(int value);

int binding_next(int value)
{
    return value + 2;
}

int binding_hook(int value)
{
    return -value;
}

int binding_sum(int count)
{
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += binding_hook(i);
    return sum;
}

int binding_walk(int depth, callback *callback)
{
    return depth == 0 ? callback(3) : callback(depth) + binding_walk(depth / 2, callback);
}
