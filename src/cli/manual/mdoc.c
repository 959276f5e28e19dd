#include "cli/manual/mdoc.h"

#include "base/memory.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A place in the text, and whether the output is inside a line of words. */
struct writer {
    FILE *stream;
    const char *argument;
    bool in_line;
};

static const char closing[] = ".,:;)?!";
static const char lowercase[] = "abcdefghijklmnopqrstuvwxyz";

static void end_line(struct writer *writer)
{
    if (writer->in_line)
        fputc('\n', writer->stream);
    writer->in_line = false;
}

/* What roff would take for a control character, a macro's name or an escape is escaped. */
static void write_escaped(struct writer *writer, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\\')
            fputs("\\e", writer->stream);
        else if (text[i] == '"')
            fputs("\\(dq", writer->stream);
        else
            fputc(text[i], writer->stream);
    }
}

static void write_word(struct writer *writer, const char *word, size_t length)
{
    if (writer->in_line)
        fputc(' ', writer->stream);
    else if (*word == '.' || *word == '\'')
        fputs("\\&", writer->stream);
    write_escaped(writer, word, length);
    writer->in_line = true;
    if (word[length - 1] == '.')
        end_line(writer);
}

/* A word, or what stands between backquotes, with the punctuation around it. */
struct token {
    bool opened; /* "(" comes before it */
    const char *text;
    size_t length;
    const char *end; /* punctuation after it, up to `next` */
    const char *next;
};

static struct token read_token(const char *at)
{
    struct token token = {.opened = *at == '('};
    token.text = at + token.opened;
    if (*token.text == '`' && strchr(token.text + 1, '`')) {
        token.text++;
        token.length = (size_t)(strchr(token.text, '`') - token.text);
        token.end = token.text + token.length + 1;
        token.next = token.end + strcspn(token.end, " \n");
        return token;
    }
    size_t length = strcspn(token.text, " \n");
    token.next = token.text + length;
    while (length > 1 && strchr(closing, token.text[length - 1]) &&
           !(token.text[length - 1] == ')' && memchr(token.text, '(', length)))
        length--;
    token.length = length;
    token.end = token.text + length;
    return token;
}

/* Whether it is one of the words of the option's argument: PID in "PID[,PID]". */
static bool is_argument(const struct writer *writer, const struct token *token)
{
    size_t length = token->length;
    for (const char *at = writer->argument; at && length > 1 && *at; at++)
        if (strncmp(at, token->text, length) == 0 && !isupper((unsigned char)at[length]) &&
            (at == writer->argument || !isupper((unsigned char)at[-1])))
            return strspn(token->text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") >= length;
    return false;
}

/* The length of NAME in "NAME(1)", a man page; 0: it names no page. */
static size_t page_name_length(const struct token *token)
{
    size_t length = token->length;
    if (length < 4 || token->text[length - 1] != ')' || token->text[length - 3] != '(' ||
        !isdigit((unsigned char)token->text[length - 2]))
        return 0;
    return length - 3;
}

static bool is_flag(const struct token *token)
{
    return token->length > 1 && token->text[0] == '-' &&
           1 + strspn(token->text + 1, "abcdefghijklmnopqrstuvwxyz-") >= token->length &&
           strchr(lowercase, token->text[1]);
}

/* The macro for it; NULL: it is an ordinary word. */
static const char *macro_of(const struct writer *writer, const struct token *token)
{
    if (token->text[-1] == '`')
        return memchr(token->text, ' ', token->length) ? "Ql" : "Cm";
    if (is_flag(token))
        return "Fl";
    if (token->text[0] == '$')
        return "Ev";
    if (token->text[0] == '/')
        return "Pa";
    if (strncmp(token->text, "https://", 8) == 0)
        return "Lk";
    if (page_name_length(token))
        return "Xr";
    return is_argument(writer, token) ? "Ar" : NULL;
}

static void write_macro_argument(struct writer *writer, const char *macro,
                                 const struct token *token)
{
    FILE *stream = writer->stream;
    size_t page = page_name_length(token);
    if (strcmp(macro, "Ar") == 0) {
        for (size_t i = 0; i < token->length; i++)
            fputc(tolower((unsigned char)token->text[i]), stream);
    } else if (strcmp(macro, "Xr") == 0) {
        fprintf(stream, "%.*s %c", (int)page, token->text, token->text[page + 1]);
    } else if (strcmp(macro, "Fl") == 0 || strcmp(macro, "Ev") == 0) {
        fprintf(stream, "%.*s", (int)token->length - 1, token->text + 1);
    } else {
        fputs("\"\\&", stream);
        write_escaped(writer, token->text, token->length);
        fputc('"', stream);
    }
}

static void write_macro(struct writer *writer, const char *macro, const struct token *token)
{
    end_line(writer);
    fprintf(writer->stream, ".%s %s", macro, token->opened ? "( " : "");
    write_macro_argument(writer, macro, token);
    for (const char *c = token->end; c < token->next; c++) {
        if (!strchr(closing, *c)) {
            fputs(" Ns ", writer->stream);
            write_escaped(writer, c, (size_t)(token->next - c));
            break;
        }
        fprintf(writer->stream, " %c", *c);
    }
    fputc('\n', writer->stream);
}

static void write_token(struct writer *writer, const struct token *token)
{
    /* text[-1] exists unless the token begins the text, where it can be no backquote. */
    const char *macro = macro_of(writer, token);
    const char *begin = token->text - token->opened;
    if (macro)
        write_macro(writer, macro, token);
    else
        write_word(writer, begin, (size_t)(token->next - begin));
}

/* Lines that begin with two blanks, up to the end of the paragraph. */
static const char *write_literal(struct writer *writer, const char *at)
{
    fputs(".Bd -literal -offset indent\n", writer->stream);
    while (strncmp(at, "  ", 2) == 0) {
        size_t length = strcspn(at + 2, "\n");
        write_escaped(writer, at + 2, length);
        fputc('\n', writer->stream);
        at += 2 + length;
        at += *at == '\n';
    }
    fputs(".Ed\n", writer->stream);
    return at;
}

void mdoc_write_text(FILE *stream, const char *text, const char *argument)
{
    struct writer writer = {.stream = stream, .argument = argument};
    char *padded = memory_format(" %s", text); /* so that each token has a character before it */
    const char *at = padded + 1;
    while (*at) {
        if (strncmp(at, "  ", 2) == 0) {
            end_line(&writer);
            at = write_literal(&writer, at);
        } else if (strncmp(at, "\n\n", 2) == 0) {
            end_line(&writer);
            at += 2;
            if (strncmp(at, "  ", 2) != 0)
                fputs(".Pp\n", stream);
        } else if (*at == ' ' || *at == '\n') {
            at++;
        } else {
            struct token token = read_token(at);
            write_token(&writer, &token);
            at = token.next;
        }
    }
    end_line(&writer);
    free(padded);
}

char *mdoc_sentence(const char *help)
{
    size_t length = strlen(help);
    char *sentence =
        memory_format("%s%s", help, length && strchr(".:?!", help[length - 1]) ? "" : ".");
    *sentence = (char)toupper((unsigned char)*sentence);
    for (char *c = sentence; *c; c++)
        if (*c == '\n')
            *c = ' ';
    return sentence;
}
