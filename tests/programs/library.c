/* A library for dlopen. */
unsigned long library_calls;

int library_step(int value)
{
    library_calls++;
    return value * 2 + 1;
}

int library_run(int steps)
{
    int value = 0;
    for (int i = 0; i < steps; i++)
        value = library_step(value & 0xffff);
    return value;
}
