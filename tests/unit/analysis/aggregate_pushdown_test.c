/* Which queries of calls are answered by the table of functions. That the answers are the same is
 * for the judge of tests/e2e/analysis/query.py. */
#include "analysis/query/aggregate_pushdown.h"

#include <sqlite3.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void check(const char *sql, const char *expected)
{
    char *rewritten = aggregate_pushdown(sql, strlen(sql));
    if (!expected && rewritten)
        fail_msg("%s\nbecame %s", sql, rewritten);
    if (expected && (!rewritten || !strstr(rewritten, expected)))
        fail_msg("%s\nbecame %s\nwithout %s", sql, rewritten ? rewritten : "nothing", expected);
    sqlite3_free(rewritten);
}

#define SUM "SELECT function, sum(duration) FROM calls "

static void pushed_down(void **state)
{
    (void)state;
    check(SUM "GROUP BY function", "FROM functions WHERE all_calls = 1) ORDER BY function");
    check(SUM "GROUP BY 1;", "ORDER BY function");
    check(SUM "WHERE whole GROUP BY 1", "FROM functions WHERE whole > 0)");
    check(SUM "WHERE whole = 1 AND thread_id = 3 GROUP BY 1", "whole > 0 AND in_thread = 3)");
    check(SUM "GROUP BY function_id LIMIT 5 OFFSET 2", "ORDER BY function_id LIMIT 5 OFFSET 2");
    check(SUM "GROUP BY 1 HAVING count(*) >= 3 ORDER BY 2 DESC", "WHERE \"count(*)\" >= 3");
    check("select Function as f,\n\tPERCENTILE ( Duration , 99.9 ) worst from Calls group by 1 "
          "order by worst",
          "\"percentile(duration,99.9)\" AS \"worst\"");
    check("SELECT round(avg(duration) / 2, 1), function FROM calls GROUP BY function",
          "AS \"round(avg(duration) / 2, 1)\"");
    check("SELECT sum(self) - - 1 FROM calls GROUP BY function", "- - 1");
}

static void left_alone(void **state)
{
    (void)state;
    check("SELECT function, sum(duration) FROM calls", NULL);
    check("SELECT function, sum(duration) FROM functions GROUP BY 1", NULL);
    check("SELECT function, sum(start) FROM calls GROUP BY 1", NULL);
    check("SELECT function, sum(DISTINCT duration) FROM calls GROUP BY 1", NULL);
    check("SELECT function, percentile(duration, 98) FROM calls GROUP BY 1", NULL);
    check("SELECT thread, sum(duration) FROM calls GROUP BY 1", NULL);
    check("SELECT function, thread, sum(duration) FROM calls GROUP BY 1", NULL);
    check("SELECT function, sum(self) FROM calls WHERE whole GROUP BY 1", NULL);
    check("SELECT function, sum(duration) AS depth FROM calls GROUP BY 1 HAVING depth > 3", NULL);
    check("SELECT function, sum(duration) /* all */ FROM calls GROUP BY 1", NULL);
    check("SELECT function, sum(duration) AS \"x\" FROM calls GROUP BY 1", NULL);
    check("SELECT sum(duration) FROM calls GROUP BY 1", NULL);
    check("EXPLAIN " SUM "GROUP BY 1", NULL);
    check(SUM "WHERE depth = 1 GROUP BY 1", NULL);
    check(SUM "WHERE NOT whole GROUP BY 1", NULL);
    check(SUM "WHERE whole OR 1 GROUP BY 1", NULL);
    check(SUM "WHERE thread_id = 1.5 GROUP BY 1", NULL);
    check(SUM "WHERE thread_id = 1 AND thread_id = 2 GROUP BY 1", NULL);
    check(SUM "GROUP BY 1, 2", NULL);
    check(SUM "GROUP BY 2", NULL);
    check(SUM "GROUP BY 1 UNION SELECT 1, 2", NULL);
    check(SUM "GROUP BY 1 HAVING function LIKE 'a%'", NULL);
    check(SUM "GROUP BY 1 ORDER BY function COLLATE NOCASE", NULL);
    check(SUM "GROUP BY 1 LIMIT -1", NULL);
    check("", NULL);
    check("SELECT", NULL);
    check("SELECT function, sum(duration) FROM calls GROUP BY 1 HAVING (", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushed_down),
        cmocka_unit_test(left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
