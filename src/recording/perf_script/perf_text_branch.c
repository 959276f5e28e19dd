#include "recording/perf_script/perf_text_branch.h"

static const struct {
    const char *word;
    enum perf_text_branch_kind kind;
} words[] = {
    {"call", PERF_TEXT_CALL},          {"return", PERF_TEXT_RETURN},
    {"jcc", PERF_TEXT_CONDITIONAL},    {"jmp", PERF_TEXT_JUMP},
    {"int", PERF_TEXT_INTERRUPT},      {"iret", PERF_TEXT_INTERRUPT_RETURN},
    {"syscall", PERF_TEXT_SYSCALL},    {"sysret", PERF_TEXT_SYSCALL_RETURN},
    {"async", PERF_TEXT_ASYNCHRONOUS}, {"vmentry", PERF_TEXT_GUEST_ENTRY},
    {"vmexit", PERF_TEXT_GUEST_EXIT},
};

static bool take_two_words(struct text_cursor *text, const char *first, const char *second)
{
    struct text_cursor copy = *text;
    if (!text_slice_is(text_take_word(&copy), first) ||
        !text_slice_is(text_take_word(&copy), second))
        return false;
    *text = copy;
    return true;
}

static bool contains(struct text_slice text, const char *string)
{
    return memmem(text.at, text.size, string, strlen(string)) != NULL;
}

/* One word, with details between slashes or without. */
static bool take_single_word(struct text_cursor *text, enum perf_text_branch_kind *kind)
{
    struct text_cursor copy = *text;
    struct text_slice word = text_take_word(&copy), details = {word.at, 0};
    const char *slash = memchr(word.at, '/', word.size);
    if (slash) {
        details = (struct text_slice){slash, word.size - (size_t)(slash - word.at)};
        word.size -= details.size;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!text_slice_is(word, words[i].word))
            continue;
        *text = copy;
        *kind = contains(details, "not_taken") ? PERF_TEXT_NO_BRANCH : words[i].kind;
        return true;
    }
    return false;
}

static bool take_kind(struct text_cursor *text, enum perf_text_branch_kind *kind)
{
    if (take_two_words(text, "hw", "int"))
        *kind = PERF_TEXT_HARDWARE_INTERRUPT;
    else if (take_two_words(text, "tx", "abrt"))
        *kind = PERF_TEXT_TRANSACTION_ABORT;
    else
        return take_single_word(text, kind);
    return true;
}

/* "(x)": in a transaction; other letters mean disabled interrupts. */
static void take_state(struct text_cursor *text, struct perf_text_branch *branch)
{
    struct text_cursor copy = *text;
    struct text_slice word = text_take_word(&copy);
    if (word.size < 3 || word.at[0] != '(' || word.at[word.size - 1] != ')')
        return;
    branch->in_transaction |= memchr(word.at, 'x', word.size) != NULL;
    *text = copy;
}

static bool has(struct text_slice letters, char letter)
{
    return memchr(letters.at, letter, letters.size) != NULL;
}

static enum perf_text_branch_kind kind_of_letters(struct text_slice letters)
{
    if (has(letters, 'g'))
        return PERF_TEXT_GUEST_ENTRY;
    if (has(letters, 'h'))
        return PERF_TEXT_GUEST_EXIT;
    if (has(letters, 'A'))
        return PERF_TEXT_TRANSACTION_ABORT;
    if (has(letters, 'y'))
        return has(letters, 'i') ? PERF_TEXT_HARDWARE_INTERRUPT : PERF_TEXT_ASYNCHRONOUS;
    if (has(letters, 's'))
        return has(letters, 'c') ? PERF_TEXT_SYSCALL : PERF_TEXT_SYSCALL_RETURN;
    if (has(letters, 'i'))
        return has(letters, 'c') ? PERF_TEXT_INTERRUPT : PERF_TEXT_INTERRUPT_RETURN;
    if (has(letters, 'c'))
        return PERF_TEXT_CALL;
    if (has(letters, 'r'))
        return PERF_TEXT_RETURN;
    if (has(letters, 'o'))
        return PERF_TEXT_CONDITIONAL;
    return has(letters, 'B') || has(letters, 'E') ? PERF_TEXT_NO_BRANCH : PERF_TEXT_JUMP;
}

/* Flags that have no name together: a 'b' (branch) and one letter each, before the address. */
static bool take_letters(struct text_cursor *text, struct perf_text_branch *branch)
{
    struct text_cursor copy = *text, after;
    struct text_slice letters = text_take_word(&copy);
    uint64_t address;
    if (letters.size == 0 || letters.at[0] != 'b')
        return false;
    for (size_t i = 0; i < letters.size; i++)
        if (!memchr("bcrosyiABExghDt", letters.at[i], strlen("bcrosyiABExghDt")))
            return false;
    after = copy;
    if (!text_take_address(&after, &address))
        return false;
    *branch = (struct perf_text_branch){
        .kind = kind_of_letters(letters),
        .starts = has(letters, 'B'),
        .ends = has(letters, 'E'),
        .in_transaction = has(letters, 'x'),
    };
    *text = copy;
    return true;
}

bool perf_text_branch_take(struct text_cursor *text, struct perf_text_branch *branch)
{
    *branch = (struct perf_text_branch){.kind = PERF_TEXT_NO_BRANCH};
    if (take_letters(text, branch))
        return true;
    branch->starts = take_two_words(text, "tr", "strt");
    branch->ends = take_two_words(text, "tr", "end");
    bool named = take_kind(text, &branch->kind);
    take_state(text, branch);
    return named || branch->starts || branch->ends;
}
