/* libc's own recursion and callbacks: regular expressions, fnmatch, qsort_r with much data, strtod.
 */
/* truth: -O0 -g; -O2; -O2 -static; strip -O2 */
#define _GNU_SOURCE
#include <fnmatch.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDS = 153, SIZE = 300 };

static int by_text(const void *left, const void *right, void *count)
{
    ++*(int *)count;
    return strcmp(left, right);
}

__attribute__((noinline)) static int matches(const char *pattern, const char *text)
{
    regex_t expression;
    if (regcomp(&expression, pattern, REG_EXTENDED) != 0)
        return -1000;
    regmatch_t groups[4];
    int found = regexec(&expression, text, 4, groups, 0) == 0;
    regfree(&expression);
    return found;
}

__attribute__((noinline)) static int sorted(void)
{
    static char records[RECORDS][SIZE];
    int count = 0, right = 1;
    for (int i = 0; i < RECORDS; i++)
        snprintf(records[i], SIZE, "%03d record", i * 77 % RECORDS);
    qsort_r(records, RECORDS, SIZE, by_text, &count);
    for (int i = 0; i < RECORDS; i++)
        right += atoi(records[i]) == i;
    return count > RECORDS ? right : -1;
}

__attribute__((noinline)) static int numbers(void)
{
    int right = 0;
    for (int i = 0; i < 100; i++) {
        char text[64];
        snprintf(text, sizeof text, "%.17ge%d", i / 7.0, i % 20);
        double value = strtod(text, NULL);
        snprintf(text, sizeof text, "%a", value);
        right += strtod(text, NULL) == value;
    }
    return right;
}

int main(void)
{
    int expressions = 0, patterns = 0;
    for (int i = 0; i < 8; i++) {
        expressions += matches("^(a|b)*c(d+)\\1?$", "ababacdd");
        expressions += matches("((x?)+y)+z", "xyxxyyxyz");
        patterns += fnmatch("*a*b*[c-e]?", "xxaxxbxxdx", 0) == 0;
        patterns += fnmatch("+(ab|cd)*(e)", "abcdabee", FNM_EXTMATCH) == 0;
    }
    int records = sorted(), right = numbers();
    printf("expressions %d patterns %d records %d numbers %d\n", expressions, patterns, records,
           right);
    return expressions == 16 && patterns == 16 && records == RECORDS + 1 && right == 100 ? 0 : 1;
}
