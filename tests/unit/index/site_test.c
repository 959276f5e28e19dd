/* What is between a browser and the index: parameters, JSON, who is let in, what goes where. */
#include "base/memory.h"
#include "index_test.h"
#include "server/answers/name_pattern.h"
#include "server/answers/source_text.h"
#include "server/http/access.h"
#include "server/http/authentication.h"
#include "server/http/compression.h"
#include "server/http/connection_watch.h"
#include "server/http/content_type.h"
#include "server/http/json_text.h"
#include "server/page_files.h"
#include "server/perfetto_site.h"
#include "server/viewer.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- parameters ---- */

static struct parameters parameters_with(const char *name, const char *value)
{
    struct parameters parameters = {0};
    assert_true(parameters_add(&parameters, name, value));
    return parameters;
}

static void test_numbers_are_digits_within_bounds(void **state)
{
    static const char *const wrong[] = {
        "", " 3", "-1", "+3", "3 ", "0x3", "3.0", "1e3", "11", "18446744073709551616", "three"};
    uint64_t value;
    struct error error;
    struct parameters parameters = parameters_with("n", "10");
    assert_true(parameter_number(&parameters, "n", 5, 1, 10, &value, &error));
    assert_int_equal(value, 10);
    assert_true(parameter_number(&parameters, "absent", 5, 1, 10, &value, &error));
    assert_int_equal(value, 5);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        parameters = parameters_with("n", wrong[i]);
        assert_false(parameter_number(&parameters, "n", 5, 1, 10, &value, &error));
        assert_int_equal(error.code, ERROR_USAGE);
    }
    assert_false(parameter_required(&parameters, "absent", 10, &value, &error));
}

static void test_times_are_cut_to_the_trace(void **state)
{
    static const struct {
        const char *text;
        uint64_t value;
    } times[] = {{"0", 0},
                 {"17", 17},
                 {"17.9", 17},
                 {"1e2", 100},
                 {"-5", 0},
                 {"-0.1", 0},
                 {"1e30", 1000},
                 {"1000", 1000},
                 {"99999999999999999999", 1000},
                 {"18446744073709551615", 1000}};
    static const char *const wrong[] = {"", "nan", "inf", "0x10", "1e", "1 2", "1e999", "--1"};
    uint64_t value;
    struct error error;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        struct parameters parameters = parameters_with("t", times[i].text);
        assert_true(parameter_time(&parameters, "t", 0, 1000, &value, &error));
        assert_int_equal(value, times[i].value);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct parameters parameters = parameters_with("t", wrong[i]);
        assert_false(parameter_time(&parameters, "t", 0, 1000, &value, &error));
    }
}

static void test_lists_shares_and_choices(void **state)
{
    static const char *const wrong_lists[] = {",", "1,", ",1", "1,,2", "1;2", "3", "-1", "1, 2"};
    static const char *const words[] = {"text", "regex", NULL};
    struct error error;
    struct array numbers = array_of(sizeof(uint32_t));
    struct parameters parameters = parameters_with("l", "2,0,1");
    assert_true(parameter_list(&parameters, "l", 3, &numbers, &error));
    assert_int_equal(numbers.count, 3);
    assert_int_equal(*(uint32_t *)array_at(&numbers, 0), 2);
    for (size_t i = 0; i < sizeof wrong_lists / sizeof *wrong_lists; i++) {
        parameters = parameters_with("l", wrong_lists[i]);
        assert_false(parameter_list(&parameters, "l", 3, &numbers, &error));
    }
    array_free(&numbers);

    double share;
    parameters = parameters_with("s", "0.25");
    assert_true(parameter_share(&parameters, "s", 1, &share, &error));
    assert_true(share == 0.25);
    parameters = parameters_with("s", "1.5");
    assert_false(parameter_share(&parameters, "s", 1, &share, &error));

    size_t choice;
    parameters = parameters_with("m", "regex");
    assert_true(parameter_choice(&parameters, "m", words, &choice, &error));
    assert_int_equal(choice, 1);
    parameters = parameters_with("m", "REGEX");
    assert_false(parameter_choice(&parameters, "m", words, &choice, &error));
}

static void test_too_many_parameters_are_reported(void **state)
{
    struct parameters parameters = {0};
    for (size_t i = 0; i < PARAMETERS_MAX; i++)
        assert_true(parameters_add(&parameters, "a", "b"));
    assert_false(parameters_add(&parameters, "a", "b"));
}

/* ---- JSON ---- */

static char *json_of_string(const char *text)
{
    char *result;
    size_t size;
    struct json_text json = {.stream = open_memstream(&result, &size)};
    json_text_string(&json, text);
    fclose(json.stream);
    return result;
}

static void test_strings_are_escaped_and_made_utf8(void **state)
{
    static const struct {
        const char *text, *json;
    } strings[] = {
        {"main", "\"main\""},
        {"", "\"\""},
        {NULL, "null"},
        {"a\"b\\c\n", "\"a\\\"b\\\\c\\n\""},
        {"\x7f", "\"\x7f\""},
        {"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x8e\xb8",
         "\"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x8e\xb8\""},
        {"a\xff"
         "b",
         "\"a\xef\xbf\xbd"
         "b\""},
        {"\xc3", "\"\xef\xbf\xbd\""},                                 /* cut */
        {"\xc0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\""},                 /* overlong */
        {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, /* a surrogate */
    };
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
        char *json = json_of_string(strings[i].text);
        assert_string_equal(json, strings[i].json);
        free(json);
    }
}

static void test_values_stand_between_commas(void **state)
{
    char *result;
    size_t size;
    struct json_text json = {.stream = open_memstream(&result, &size)};
    json_text_open(&json, '{');
    json_text_key(&json, "a");
    json_text_open(&json, '[');
    json_text_number(&json, UINT64_MAX);
    json_text_signed(&json, -3);
    json_text_real(&json, 0.5);
    json_text_real(&json, 1.0 / 0.0);
    json_text_bool(&json, true);
    json_text_open(&json, '[');
    json_text_close(&json, ']');
    json_text_close(&json, ']');
    json_text_key(&json, "b");
    json_text_address(&json, 0x7f0000001000);
    json_text_close(&json, '}');
    fclose(json.stream);
    assert_string_equal(
        result, "{\"a\":[18446744073709551615,-3,0.5,null,true,[]],\"b\":\"0x7f0000001000\"}");
    free(result);
}

/* ---- who is let in ---- */

static void test_tokens_are_random_and_compared_whole(void **state)
{
    struct access_token one, other;
    const char *rest;
    char path[100];
    assert_true(access_token_make(&one, NULL) && access_token_make(&other, NULL));
    assert_int_equal(strlen(one.text), 32);
    assert_string_not_equal(one.text, other.text);
    snprintf(path, sizeof path, "/%s/api/trace", one.text);
    assert_true(access_path(&one, path, &rest));
    assert_string_equal(rest, "/api/trace");
    assert_false(access_path(&other, path, &rest));
    snprintf(path, sizeof path, "/%s", one.text);
    assert_true(access_path(&one, path, &rest));
    assert_string_equal(rest, "");
    path[5] ^= 1;
    assert_false(access_path(&one, path, &rest));
    snprintf(path, sizeof path, "/%.31s/", one.text);
    assert_false(access_path(&one, path, &rest));
    snprintf(path, sizeof path, "/%sx/", one.text);
    assert_false(access_path(&one, path, &rest));
    assert_false(access_path(&one, "", &rest));
    assert_false(access_path(&one, "*", &rest));
    assert_false(access_path(&one, "//", &rest));
}

static void test_hosts_that_a_stranger_can_own_are_refused(void **state)
{
    static const char *const good[] = {"127.0.0.1",  "127.0.0.1:8080", "localhost:1", "LOCALHOST",
                                       "[::1]:8080", "[::1]",          "192.168.1.7", "localhost"};
    static const char *const bad[] = {"",
                                      "evil.example",
                                      "127.0.0.1.evil.example",
                                      "localhost.",
                                      "localhost:80x",
                                      ":80",
                                      "[::1",
                                      "[::1]x",
                                      "[]",
                                      "127.0.0.1@evil",
                                      "box:80",
                                      "0x7f.1",
                                      "2130706433"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(access_host(good[i], NULL));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(access_host(bad[i], NULL));
    assert_false(access_host(NULL, NULL));
    assert_true(access_host("box:80", "box"));
    assert_false(access_host("box.example:80", "box"));
}

static void test_origins_are_our_own(void **state)
{
    assert_true(access_origin(NULL, "127.0.0.1:80"));
    assert_true(access_origin("http://127.0.0.1:80", "127.0.0.1:80"));
    assert_false(access_origin("http://127.0.0.1:81", "127.0.0.1:80"));
    assert_false(access_origin("https://127.0.0.1:80", "127.0.0.1:80"));
    assert_false(access_origin("null", "127.0.0.1:80"));
    assert_false(access_origin("", "127.0.0.1:80"));
    assert_false(access_origin("http://", NULL));
}

static struct http_request request_for(const char *path)
{
    return (struct http_request){.method = "GET", .path = path, .host = "127.0.0.1:1"};
}

static enum http_status admit(struct authentication *authentication,
                              const struct http_request *request)
{
    const char *path;
    struct http_answer answer = http_answer_new();
    bool admitted = authentication_admit(authentication, request, &path, &answer);
    enum http_status status = answer.status;
    assert_int_equal(admitted, status == HTTP_OK);
    http_answer_free(&answer);
    return status;
}

static void test_the_authentication(void **state)
{
    struct authentication authentication;
    char path[100];
    assert_true(authentication_open(&authentication, false, NULL, NULL));
    snprintf(path, sizeof path, "/%s/", authentication.token.text);
    struct http_request request = request_for(path);
    assert_int_equal(admit(&authentication, &request), HTTP_OK);
    request.method = "HEAD";
    assert_int_equal(admit(&authentication, &request), HTTP_OK);
    request.method = "POST";
    assert_int_equal(admit(&authentication, &request), HTTP_METHOD_NOT_ALLOWED);
    request.method = "OPTIONS";
    assert_int_equal(admit(&authentication, &request), HTTP_METHOD_NOT_ALLOWED);
    request = request_for(path);
    request.has_body = true;
    assert_int_equal(admit(&authentication, &request), HTTP_TOO_LARGE);
    request = request_for(path);
    request.host = "evil.example";
    assert_int_equal(admit(&authentication, &request), HTTP_FORBIDDEN);
    request = request_for(path);
    request.origin = "https://ui.perfetto.dev";
    assert_int_equal(admit(&authentication, &request), HTTP_FORBIDDEN);
    request = request_for("/");
    request.method = "POST"; /* without the token, other errors are not distinguished */
    assert_int_equal(admit(&authentication, &request), HTTP_FORBIDDEN);
    authentication_close(&authentication);
}

static void test_a_key_opens_once(void **state)
{
    struct authentication authentication;
    char path[100];
    assert_true(authentication_open(&authentication, false, NULL, NULL));
    snprintf(path, sizeof path, "/%s/", authentication.key.text);
    struct http_request request = request_for(path);
    assert_int_equal(admit(&authentication, &request), HTTP_FORBIDDEN); /* it leads nowhere */
    authentication.login_url = memory_copy_string("http://127.0.0.1:1/x/");
    assert_int_equal(admit(&authentication, &request), HTTP_SEE_OTHER);
    assert_int_equal(admit(&authentication, &request), HTTP_FORBIDDEN);
    authentication_close(&authentication);
}

static void test_etags(void **state)
{
    assert_true(http_etag_matches("\"a\"", "\"a\""));
    assert_true(http_etag_matches("W/\"a\"", "\"a\""));
    assert_true(http_etag_matches("\"b\", W/\"a\"", "\"a\""));
    assert_true(http_etag_matches("*", "\"a\""));
    assert_false(http_etag_matches("\"ab\"", "\"a\""));
    assert_false(http_etag_matches("\"a", "\"a\""));
    assert_false(http_etag_matches(NULL, "\"a\""));
    assert_false(http_etag_matches("", ""));
}

static void test_connections_that_owe_a_request_for_long_are_ended(void **state)
{
    int pair[2];
    char byte;
    struct connection_watch watch;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    connection_watch_open(&watch);
    struct watched_connection *slow = connection_watch_add(&watch, pair[0], 100);
    struct watched_connection *other = connection_watch_add(&watch, -1, 200);
    assert_int_equal(connection_watch_sweep(&watch, 100), 0);
    connection_watch_begin(&watch, slow);
    assert_int_equal(connection_watch_sweep(&watch, 150), 0); /* it is being answered */
    connection_watch_end(&watch, slow, 120);
    assert_int_equal(connection_watch_sweep(&watch, 120), 0);
    assert_int_equal(connection_watch_sweep(&watch, 121), 1);
    assert_int_equal(read(pair[1], &byte, 1), 0);
    connection_watch_remove(&watch, slow);
    connection_watch_remove(&watch, other);
    assert_null(watch.first);
    connection_watch_close(&watch);
    close(pair[0]);
    close(pair[1]);
}

/* ---- content ---- */

static void test_who_takes_gzip_gets_it_where_it_pays(void **state)
{
    assert_true(compression_takes_gzip("gzip"));
    assert_true(compression_takes_gzip("deflate, GZIP;q=0.5, br"));
    assert_true(compression_takes_gzip("br,gzip"));
    assert_false(compression_takes_gzip("gzip;q=0"));
    assert_false(compression_takes_gzip("gzip;q=0.000, br"));
    assert_false(compression_takes_gzip("xgzip, gzipx"));
    assert_false(compression_takes_gzip("identity"));
    assert_false(compression_takes_gzip(""));
    assert_false(compression_takes_gzip(NULL));
    assert_true(compression_pays("application/json", 10000));
    assert_false(compression_pays("application/json", 100));
    assert_false(compression_pays("application/octet-stream", 10000));

    char zeros[5000] = {0};
    size_t size;
    char *gzip = compression_gzip(zeros, sizeof zeros, &size);
    assert_non_null(gzip);
    assert_in_range(size, 18, 200);
    assert_memory_equal(gzip, "\x1f\x8b", 2);
    free(gzip);
    char random[5000];
    for (size_t i = 0, number = 1; i < sizeof random; i++)
        random[i] = (char)((number = number * 6364136223846793005 + 1442695040888963407) >> 56);
    assert_null(compression_gzip(random, sizeof random, &size));
}

static void test_patterns_are_bounded(void **state)
{
    static const char *const refused[] = {
        "(", "((a{1,255}){1,255}){1,255}", "a{1001}", "(a)\\1", "[", "a{2", "*{9999999999}"};
    struct name_pattern pattern;
    struct error error;
    assert_true(name_pattern_open(&pattern, "MALL", false, &error));
    assert_true(name_pattern_matches(&pattern, "__libc_malloc"));
    assert_false(name_pattern_matches(&pattern, "free"));
    name_pattern_close(&pattern);
    assert_true(name_pattern_open(&pattern, "^[a-c]{2,3}(x|y)$", true, &error));
    assert_true(name_pattern_matches(&pattern, "abx"));
    assert_false(name_pattern_matches(&pattern, "ABX"));
    name_pattern_close(&pattern);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        assert_false(name_pattern_open(&pattern, refused[i], true, &error));
        assert_int_equal(error.code, ERROR_USAGE);
    }
    char *longest = memory_allocate(502);
    memset(longest, 'a', 501);
    longest[501] = 0;
    assert_false(name_pattern_open(&pattern, longest, false, &error));
    free(longest);
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void test_source_text_is_text_of_a_regular_file(void **state)
{
    char folder[] = "/tmp/magic_trace_source.XXXXXX", path[100];
    struct source_text text;
    struct error error;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file.c", folder);
    write_file(path, "one\ntwo\r\nthree", 14);
    assert_true(source_text_read(&text, path, 2, &error));
    assert_int_equal(text.first, 1);
    assert_int_equal(text.size, 15);
    assert_memory_equal(text.bytes, "one\ntwo\r\nthree\n", 15);
    source_text_free(&text);

    write_file(path, "a\0b", 3);
    assert_false(source_text_read(&text, path, 1, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(source_text_read(&text, path, 1, &error)); /* and does not wait for a writer */
    unlink(path);
    assert_false(source_text_read(&text, path, 1, &error));
    assert_false(source_text_read(&text, folder, 1, &error));
    assert_false(source_text_read(&text, "/dev/zero", 1, &error));
    assert_false(source_text_read(&text, "meson.build", 1, &error));
    rmdir(folder);
}

/* ---- sites ---- */

struct scene {
    struct indexed_trace indexed;
    struct viewer viewer;
    struct http_site site;
};

static struct scene *scene_new(void)
{
    struct scene *scene = memory_allocate_zeroed(sizeof *scene);
    scene->indexed = indexed_trace_new(7);
    assert_true(authentication_open(&scene->viewer.authentication, false, NULL, NULL));
    api_open(&scene->viewer.api, scene->indexed.index, "made", NULL, NULL);
    scene->site = viewer_site(&scene->viewer);
    return scene;
}

static void scene_free(struct scene *scene)
{
    api_close(&scene->viewer.api);
    authentication_close(&scene->viewer.authentication);
    indexed_trace_free(&scene->indexed);
    free(scene);
}

static struct http_answer ask(struct scene *scene, const char *path, const char *if_none_match)
{
    char *whole = memory_format("/%s%s", scene->viewer.authentication.token.text, path);
    struct http_request request = request_for(whole);
    request.if_none_match = if_none_match;
    parameters_add(&request.parameters, "track", "0");
    parameters_add(&request.parameters, "group", "0");
    parameters_add(&request.parameters, "q", "a");
    struct http_answer answer = http_answer_new();
    scene->site.answer(scene->site.context, &request, &answer);
    free(whole);
    return answer;
}

static void assert_status(struct scene *scene, const char *path, enum http_status status)
{
    struct http_answer answer = ask(scene, path, NULL);
    assert_int_equal(answer.status, status);
    http_answer_free(&answer);
}

static void test_what_goes_where(void **state)
{
    static const char *const found[] = {
        "/",          "/app/main.js", "/app/data/http.js", "/api/trace", "/api/functions",
        "/api/tiles", "/api/span",    "/api/stack",        "/api/table", "/api/flame",
        "/api/find",  "/api/calls",   "/api/next",         "/api/marks", "/api/text"};
    static const char *const nowhere[] = {
        "/api/",     "/api/nothing", "/app/", "/app/../main.js", "/index.html", "/app//main.js",
        "/app/data", "//",           "/x",    "/api/trace/",     "/api/raw"};
    struct scene *scene = scene_new();
    for (size_t i = 0; i < sizeof found / sizeof *found; i++)
        assert_status(scene, found[i], HTTP_OK);
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++)
        assert_status(scene, nowhere[i], HTTP_NOT_FOUND);
    assert_status(scene, "", HTTP_SEE_OTHER);
    assert_status(scene, "/api/counter", HTTP_BAD_REQUEST); /* it lacks its id */
    scene_free(scene);
}

static void test_two_traces_have_a_site_each(void **state)
{
    struct scene *scene = scene_new();
    api_open(&scene->viewer.baseline, scene->indexed.index, "before", NULL, NULL);
    api_pair(&scene->viewer.baseline, &scene->viewer.api);
    static const char *const found[] = {"/a/", "/b/", "/a/app/main.js", "/b/api/trace",
                                        "/a/api/compare"};
    static const char *const nowhere[] = {"/c/", "/ab/", "/api/trace", "/app/main.js", "/a/b/"};
    static const char *const leading[] = {"", "/", "/a", "/b"};
    for (size_t i = 0; i < sizeof found / sizeof *found; i++)
        assert_status(scene, found[i], HTTP_OK);
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++)
        assert_status(scene, nowhere[i], HTTP_NOT_FOUND);
    for (size_t i = 0; i < sizeof leading / sizeof *leading; i++)
        assert_status(scene, leading[i], HTTP_SEE_OTHER);
    struct http_answer answer = ask(scene, "/a/api/trace", NULL);
    assert_non_null(strstr(answer.bytes, "\"letter\":\"a\",\"otherName\":\"made\""));
    http_answer_free(&answer);
    api_close(&scene->viewer.baseline);
    scene_free(scene);
}

static bool has_gone(const struct http_request *request)
{
    return true;
}

static void test_who_has_gone_is_given_no_statistics(void **state)
{
    struct scene *scene = scene_new();
    char *path = memory_format("/%s/api/table", scene->viewer.authentication.token.text);
    struct http_request request = request_for(path);
    request.is_abandoned = has_gone;
    /* More often than there are turns, so that one that is not given back would be missed. */
    for (size_t i = 0; i < 1000; i++) {
        struct http_answer answer = http_answer_new();
        scene->site.answer(scene->site.context, &request, &answer);
        assert_int_equal(answer.status, HTTP_BUSY);
        http_answer_free(&answer);
    }
    assert_status(scene, "/api/table", HTTP_OK);
    free(path);
    scene_free(scene);
}

static void test_what_has_not_changed_is_not_sent_again(void **state)
{
    static const char *const constant[] = {"/", "/app/main.js", "/api/functions", "/api/tiles"};
    struct scene *scene = scene_new();
    for (size_t i = 0; i < sizeof constant / sizeof *constant; i++) {
        struct http_answer first = ask(scene, constant[i], NULL);
        assert_int_not_equal(first.etag[0], 0);
        assert_int_not_equal(first.caching, HTTP_NOT_CACHED);
        struct http_answer second = ask(scene, constant[i], first.etag);
        assert_int_equal(second.status, HTTP_NOT_MODIFIED);
        assert_int_equal(second.size, 0);
        assert_string_equal(second.etag, first.etag);
        http_answer_free(&first);
        http_answer_free(&second);
    }
    struct http_answer trace = ask(scene, "/api/trace", "*");
    assert_int_equal(trace.status, HTTP_OK);
    assert_int_equal(trace.caching, HTTP_NOT_CACHED);
    http_answer_free(&trace);
    scene_free(scene);
}

static void test_the_page_is_in_the_program(void **state)
{
    const struct page_file *page = page_file_find("index.html");
    assert_non_null(page);
    assert_non_null(memmem(page->bytes, page->size, "<!doctype html>", 15));
    assert_null(page_file_find("jsconfig.json"));
    assert_null(page_file_find(""));
    assert_string_equal(content_type_of("index.html"), "text/html; charset=utf-8");
    assert_string_equal(content_type_of("a/b.js"), "text/javascript; charset=utf-8");
    assert_string_equal(content_type_of("js"), "application/octet-stream");
    assert_string_equal(content_type_of(".js"), "application/octet-stream");
}

static void test_perfetto_alone_may_ask_from_elsewhere(void **state)
{
    struct perfetto_site site = {.trace = "/dev/null", .name = "a b.fxt"};
    char path[100];
    assert_true(authentication_open(&site.authentication, false, perfetto_origin, NULL));
    struct http_site http = perfetto_http_site(&site);
    snprintf(path, sizeof path, "/%s/trace/a b.fxt", site.authentication.token.text);
    struct http_request request = request_for(path);
    request.method = "OPTIONS";
    request.origin = perfetto_origin;
    struct http_answer answer = http_answer_new();
    http.answer(http.context, &request, &answer);
    assert_int_equal(answer.status, HTTP_NO_CONTENT);
    assert_string_equal(answer.headers[0].name, "Access-Control-Allow-Origin");
    assert_string_equal(answer.headers[0].value, "https://ui.perfetto.dev");
    http_answer_free(&answer);
    request.origin = "https://evil.example";
    http.answer(http.context, &request, &answer);
    assert_int_equal(answer.status, HTTP_FORBIDDEN);
    http_answer_free(&answer);
    char *address = perfetto_site_address(&site, "http://127.0.0.1:9001/t");
    assert_string_equal(address,
                        "https://ui.perfetto.dev/#!/?url=http://127.0.0.1:9001/t/trace/a%20b.fxt");
    free(address);
    authentication_close(&site.authentication);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_are_digits_within_bounds),
        cmocka_unit_test(test_times_are_cut_to_the_trace),
        cmocka_unit_test(test_lists_shares_and_choices),
        cmocka_unit_test(test_too_many_parameters_are_reported),
        cmocka_unit_test(test_strings_are_escaped_and_made_utf8),
        cmocka_unit_test(test_values_stand_between_commas),
        cmocka_unit_test(test_tokens_are_random_and_compared_whole),
        cmocka_unit_test(test_hosts_that_a_stranger_can_own_are_refused),
        cmocka_unit_test(test_origins_are_our_own),
        cmocka_unit_test(test_the_authentication),
        cmocka_unit_test(test_a_key_opens_once),
        cmocka_unit_test(test_etags),
        cmocka_unit_test(test_connections_that_owe_a_request_for_long_are_ended),
        cmocka_unit_test(test_who_takes_gzip_gets_it_where_it_pays),
        cmocka_unit_test(test_patterns_are_bounded),
        cmocka_unit_test(test_source_text_is_text_of_a_regular_file),
        cmocka_unit_test(test_what_goes_where),
        cmocka_unit_test(test_two_traces_have_a_site_each),
        cmocka_unit_test(test_who_has_gone_is_given_no_statistics),
        cmocka_unit_test(test_what_has_not_changed_is_not_sent_again),
        cmocka_unit_test(test_the_page_is_in_the_program),
        cmocka_unit_test(test_perfetto_alone_may_ask_from_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
