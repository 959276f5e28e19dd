/* Runs a fuzz target without libFuzzer: each file of a folder once. `meson test` does so with what fuzz/corpus keeps.
 *
 *   TARGET_fuzz FOLDER
 *
 * A target that finds a fault aborts. Exit status 1: the folder or a file of it cannot be read, or it has no file.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
int LLVMFuzzerInitialize(int *argument_count, char ***arguments) __attribute__((weak));
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t capacity);

/* For targets with a mutator of their own, which only libFuzzer calls. */
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t capacity)
{
    (void)bytes;
    (void)size;
    (void)capacity;
    abort();
}

/* An allocation of exactly the input's size, so that a sanitizer sees what is read beyond it. */
static bool run_file(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    fseek(file, 0, SEEK_END);
    long end = ftell(file);
    rewind(file);
    size_t size = end > 0 ? (size_t)end : 0;
    uint8_t *bytes = malloc(size > 0 ? size : 1);
    bool ok = bytes && end >= 0 && fread(bytes, 1, size, file) == size;
    fclose(file);
    if (ok)
        LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
    return ok;
}

int main(int argument_count, char **arguments)
{
    if (argument_count != 2)
        return 1;
    if (LLVMFuzzerInitialize)
        LLVMFuzzerInitialize(&argument_count, &arguments);
    DIR *folder = opendir(arguments[1]);
    size_t count = 0;
    bool ok = folder;
    for (struct dirent *entry; ok && (entry = readdir(folder));) {
        if (entry->d_name[0] == '.')
            continue;
        ok = run_file(arguments[1], entry->d_name);
        if (!ok)
            fprintf(stderr, "%s/%s cannot be read\n", arguments[1], entry->d_name);
        count += ok;
    }
    if (folder)
        closedir(folder);
    printf("%zu inputs\n", count);
    return ok && count > 0 ? 0 : 1;
}
