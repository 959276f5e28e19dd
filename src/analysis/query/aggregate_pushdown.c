#include "analysis/query/aggregate_pushdown.h"

#include "analysis/query/trace_tables.h"
#include "base/array.h"

#include <stdbool.h>
#include <string.h>

/* What may be computed, and how `functions` has it. */
struct aggregate {
    const char *sql; /* without blanks */
    const char *value;
    bool needs_all; /* of whole calls alone it is not known */
};

static const struct aggregate aggregates[] = {
    {"count(*)", NULL, false}, /* calls, or whole */
    {"sum(duration)", "sum", false},
    {"avg(duration)", "sum * 1.0", false}, /* divided by the first */
    {"min(duration)", "min", false},
    {"max(duration)", "max", false},
    {"sum(self)", "self", true},
    {"median(duration)", "median", false},
    {"percentile(duration,50)", "median", false},
    {"percentile(duration,90)", "p90", false},
    {"percentile(duration,95)", "p95", false},
    {"percentile(duration,99)", "p99", false},
    {"percentile(duration,99.9)", "p999", false},
};

enum {
    AGGREGATES = sizeof aggregates / sizeof *aggregates,
    AGGREGATE_COUNT = 0,
    AGGREGATE_AVG = 2
};

/* ---- tokens ---- */

enum token_kind { TOKEN_WORD, TOKEN_NUMBER, TOKEN_MARK, TOKEN_END };

struct token {
    enum token_kind kind;
    const char *text;
    size_t length;
};

static bool is_digit(char character)
{
    return character >= '0' && character <= '9';
}

static bool is_of_word(char character)
{
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           character == '_' || is_digit(character);
}

static bool is_of_number(char character)
{
    return is_digit(character) || character == '.';
}

static bool is_blank(char character)
{
    return character == ' ' || character == '\t' || character == '\n' || character == '\r';
}

static size_t run_length(const char *text, size_t length, bool (*belongs)(char))
{
    size_t run = 0;
    while (run < length && belongs(text[run]))
        run++;
    return run;
}

static struct token next_token(const char *text, size_t length)
{
    struct token token = {TOKEN_MARK, text, 1};
    if (is_digit(*text)) {
        token.kind = TOKEN_NUMBER;
        token.length = run_length(text, length, is_of_number);
    } else if (is_of_word(*text)) {
        token.kind = TOKEN_WORD;
        token.length = run_length(text, length, is_of_word);
    }
    return token;
}

/* False: something of it is no token of these queries. */
static bool split(const char *sql, size_t length, struct array *tokens)
{
    const char *end = sql + length;
    while (sql < end) {
        if (is_blank(*sql)) {
            sql++;
            continue;
        }
        struct token token = next_token(sql, (size_t)(end - sql));
        bool is_comment =
            end - sql > 1 && ((sql[0] == '-' && sql[1] == '-') || (sql[0] == '/' && sql[1] == '*'));
        if ((token.kind == TOKEN_MARK && !memchr("(),*=<>+-/;", *sql, 11)) || is_comment)
            return false;
        array_add_all(tokens, &token, 1);
        sql += token.length;
        if (token.kind == TOKEN_NUMBER && sql < end && is_of_word(*sql))
            return false; /* 1e3, 0x10 */
    }
    const struct token last = {TOKEN_END, end, 0};
    array_add_all(tokens, &last, 1);
    return true;
}

/* ---- reading ---- */

struct rewriting {
    const struct token *at; /* up to TOKEN_END */
    sqlite3_str *out;
    struct array aliases; /* of struct token */
    bool only_whole, needs_all;
    const struct token *key, *thread; /* `thread`: a number, or NULL */
    const struct token *first_item;   /* if that is a column, alone or with an alias */
};

static bool is_word(const struct token *token, const char *word)
{
    return token->kind != TOKEN_END && strlen(word) == token->length &&
           sqlite3_strnicmp(token->text, word, (int)token->length) == 0;
}

static bool take(struct rewriting *rewriting, const char *word)
{
    bool found = is_word(rewriting->at, word);
    rewriting->at += found;
    return found;
}

static bool is_column(const struct token *token)
{
    return is_word(token, "function") || is_word(token, "function_id");
}

static bool is_one_of(const struct token *token, const char *const *words)
{
    while (*words && !is_word(token, *words))
        words++;
    return *words;
}

/* How many tokens from here on are `sql`; 0: none. */
static size_t match(const struct token *token, const char *sql)
{
    size_t matched = 0;
    for (; *sql; sql += token++->length, matched++)
        if (token->kind == TOKEN_END || sqlite3_strnicmp(token->text, sql, (int)token->length) != 0)
            return 0;
    return matched;
}

static bool take_aggregate(struct rewriting *rewriting)
{
    for (size_t i = 0; i < AGGREGATES; i++) {
        size_t matched = match(rewriting->at, aggregates[i].sql);
        if (matched == 0)
            continue;
        rewriting->at += matched;
        rewriting->needs_all |= aggregates[i].needs_all;
        sqlite3_str_appendf(rewriting->out, " \"%s\"", aggregates[i].sql);
        return true;
    }
    return false;
}

static bool is_alias(const struct rewriting *rewriting, const struct token *token)
{
    for (size_t i = 0; i < rewriting->aliases.count; i++) {
        const struct token *alias = array_at(&rewriting->aliases, i);
        if (alias->length == token->length &&
            sqlite3_strnicmp(alias->text, token->text, (int)alias->length) == 0)
            return true;
    }
    return false;
}

static bool put_token(struct rewriting *rewriting)
{
    sqlite3_str_appendchar(rewriting->out, 1, ' ');
    sqlite3_str_append(rewriting->out, rewriting->at->text, (int)rewriting->at->length);
    rewriting->at++;
    return true;
}

/* Two marks that are one operator stay next to each other. */
static bool put_mark(struct rewriting *rewriting)
{
    sqlite3_str_appendchar(rewriting->out, 1, ' ');
    do {
        sqlite3_str_append(rewriting->out, rewriting->at->text, 1);
        rewriting->at++;
    } while (rewriting->at->kind == TOKEN_MARK && memchr("=<>", *rewriting->at->text, 3));
    return true;
}

static bool put_alias(struct rewriting *rewriting, const struct token *alias)
{
    sqlite3_str_appendf(rewriting->out, " \"%.*s\"", (int)alias->length, alias->text);
    return true;
}

/* One token or aggregate of an expression; false when it may be none. */
static bool take_operand(struct rewriting *rewriting, int *open)
{
    static const char *const OPERATORS[] = {"and", "or", "not", "between", "round", NULL};
    const struct token *token = rewriting->at;
    if (take_aggregate(rewriting))
        return true;
    if (token->kind == TOKEN_NUMBER || is_column(token) || is_one_of(token, OPERATORS))
        return put_token(rewriting);
    if (token->kind == TOKEN_WORD && is_alias(rewriting, token)) {
        rewriting->at++;
        return put_alias(rewriting, token);
    }
    if (token->kind != TOKEN_MARK || *token->text == ';')
        return false;
    *open += (*token->text == '(') - (*token->text == ')');
    return put_mark(rewriting);
}

static bool ends_expression(const struct token *token, bool in_list)
{
    static const char *const WORDS[] = {"as",    "from", "group", "having", "order",
                                        "limit", "asc",  "desc",  NULL};
    if (token->kind == TOKEN_END || is_word(token, ",") || is_word(token, ";"))
        return true;
    bool is_name = in_list && token->kind == TOKEN_WORD && !is_column(token) &&
                   (is_word(token + 1, ",") || is_word(token + 1, "from"));
    return is_name || is_one_of(token, WORDS);
}

static bool take_expression(struct rewriting *rewriting, bool in_list)
{
    const struct token *first = rewriting->at;
    int open = 0;
    while (open > 0 ? rewriting->at->kind != TOKEN_END : !ends_expression(rewriting->at, in_list))
        if (!take_operand(rewriting, &open))
            return false;
    return open == 0 && rewriting->at > first;
}

/* ---- clauses ---- */

/* In HAVING a column of `calls` would go before an alias. */
static bool take_alias(struct rewriting *rewriting)
{
    const struct token alias = *rewriting->at++;
    if (alias.kind != TOKEN_WORD)
        return false;
    for (size_t i = 0; i < calls_table.column_count; i++)
        if (is_word(&alias, calls_table.columns[i].name))
            return false;
    array_add_all(&rewriting->aliases, &alias, 1);
    sqlite3_str_appendall(rewriting->out, " AS");
    return put_alias(rewriting, &alias);
}

/* A column without alias is called as it is written. */
static bool take_item(struct rewriting *rewriting)
{
    const struct token *first = rewriting->at;
    if (!take_expression(rewriting, true))
        return false;
    const struct token *last = rewriting->at - 1;
    if (!is_word(rewriting->at, ",") && !is_word(rewriting->at, "from")) {
        take(rewriting, "as");
        return take_alias(rewriting);
    }
    if (!(first == last && is_column(first)))
        sqlite3_str_appendf(rewriting->out, " AS \"%.*s\"",
                            (int)(last->text + last->length - first->text), first->text);
    return true;
}

static bool take_items(struct rewriting *rewriting)
{
    const struct token *first = rewriting->at;
    if (!take_item(rewriting))
        return false;
    if (is_column(first) && (first[1].kind == TOKEN_WORD || is_word(first + 1, ",")))
        rewriting->first_item = first;
    while (take(rewriting, ",")) {
        sqlite3_str_appendchar(rewriting->out, 1, ',');
        if (!take_item(rewriting))
            return false;
    }
    return true;
}

static bool take_condition(struct rewriting *rewriting)
{
    if (take(rewriting, "whole")) {
        rewriting->only_whole = true;
        return !take(rewriting, "=") || take(rewriting, "1");
    }
    enum { DIGITS_MAX = 9 };
    if (rewriting->thread || !take(rewriting, "thread_id") || !take(rewriting, "="))
        return false;
    rewriting->thread = rewriting->at++;
    return rewriting->thread->kind == TOKEN_NUMBER && rewriting->thread->length <= DIGITS_MAX &&
           !memchr(rewriting->thread->text, '.', rewriting->thread->length);
}

static bool take_conditions(struct rewriting *rewriting)
{
    if (!take(rewriting, "where"))
        return true;
    do
        if (!take_condition(rewriting))
            return false;
    while (take(rewriting, "and"));
    return true;
}

static bool take_key(struct rewriting *rewriting)
{
    if (!take(rewriting, "group") || !take(rewriting, "by"))
        return false;
    rewriting->key = rewriting->at++;
    if (is_word(rewriting->key, "1") && rewriting->first_item)
        rewriting->key = rewriting->first_item;
    return is_column(rewriting->key);
}

/* What functions are read of, under the names that the aggregates have. */
static void put_source(struct rewriting *rewriting)
{
    sqlite3_str_appendf(rewriting->out,
                        " FROM (SELECT function, id AS function_id, %s AS \"count(*)\"",
                        rewriting->only_whole ? "whole" : "calls");
    for (size_t i = AGGREGATE_COUNT + 1; i < AGGREGATES; i++)
        sqlite3_str_appendf(rewriting->out, ", %s%s AS \"%s\"", aggregates[i].value,
                            i != AGGREGATE_AVG      ? ""
                            : rewriting->only_whole ? " / whole"
                                                    : " / calls",
                            aggregates[i].sql);
    sqlite3_str_appendall(rewriting->out, rewriting->only_whole
                                              ? " FROM functions WHERE whole > 0"
                                              : " FROM functions WHERE all_calls = 1");
    if (rewriting->thread)
        sqlite3_str_appendf(rewriting->out, " AND in_thread = %.*s", (int)rewriting->thread->length,
                            rewriting->thread->text);
    sqlite3_str_appendchar(rewriting->out, 1, ')');
}

/* GROUP BY sorts, too. */
static bool take_order(struct rewriting *rewriting)
{
    sqlite3_str_appendall(rewriting->out, " ORDER BY");
    if (take(rewriting, "order")) {
        if (!take(rewriting, "by"))
            return false;
        do {
            if (!take_expression(rewriting, false))
                return false;
            if (is_word(rewriting->at, "asc") || is_word(rewriting->at, "desc"))
                put_token(rewriting);
            sqlite3_str_appendchar(rewriting->out, 1, ',');
        } while (take(rewriting, ","));
    }
    sqlite3_str_appendf(rewriting->out, " %.*s", (int)rewriting->key->length, rewriting->key->text);
    return true;
}

static bool take_limit(struct rewriting *rewriting)
{
    if (!is_word(rewriting->at, "limit"))
        return true;
    put_token(rewriting);
    while (rewriting->at->kind == TOKEN_NUMBER || is_word(rewriting->at, ",") ||
           is_word(rewriting->at, "offset"))
        put_token(rewriting);
    return true;
}

static bool rewrite(struct rewriting *rewriting)
{
    sqlite3_str_appendall(rewriting->out, "SELECT");
    if (!take(rewriting, "select") || !take_items(rewriting) || !take(rewriting, "from") ||
        !take(rewriting, "calls") || !take_conditions(rewriting) || !take_key(rewriting))
        return false;
    put_source(rewriting);
    if (take(rewriting, "having")) {
        sqlite3_str_appendall(rewriting->out, " WHERE");
        if (!take_expression(rewriting, false))
            return false;
    }
    if (!take_order(rewriting) || !take_limit(rewriting))
        return false;
    take(rewriting, ";");
    return rewriting->at->kind == TOKEN_END && !(rewriting->needs_all && rewriting->only_whole);
}

char *aggregate_pushdown(const char *sql, size_t length)
{
    struct array tokens = array_of(sizeof(struct token));
    struct rewriting rewriting = {.out = sqlite3_str_new(NULL),
                                  .aliases = array_of(sizeof(struct token))};
    bool ok = split(sql, length, &tokens);
    rewriting.at = tokens.elements;
    ok = ok && rewrite(&rewriting);
    char *rewritten = sqlite3_str_finish(rewriting.out);
    if (!ok) {
        sqlite3_free(rewritten);
        rewritten = NULL;
    }
    array_free(&rewriting.aliases);
    array_free(&tokens);
    return rewritten;
}
