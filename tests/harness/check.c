/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/check.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

// Set on the one thread that cmocka can be told of a failure from: it answers with a long jump.
static _Thread_local bool on_test_thread;

_Noreturn static void fail_test(const char *file, int line, const char *format, ...)
    PRINTF_LIKE(3, 4);

_Noreturn static void fail_test(const char *file, int line, const char *format, ...)
{
    char text[2000];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (!on_test_thread) {
        (void)fprintf(stderr, "%s:%d: %s\n", file, line, text);
        abort();
    }
    print_error("%s:%d: %s\n", file, line, text);
    _fail(file, line);
    abort(); // _fail does not come back
}

struct check_value bw_check_signed(int64_t number)
{
    return (struct check_value){.kind = CHECK_SIGNED, .number = number};
}

struct check_value bw_check_unsigned(uint64_t number)
{
    return (struct check_value){.kind = CHECK_UNSIGNED, .natural = number};
}

struct check_value bw_check_real(double number)
{
    return (struct check_value){.kind = CHECK_REAL, .real = number};
}

struct check_value bw_check_pointer(const void *pointer)
{
    return (struct check_value){.kind = CHECK_POINTER, .pointer = pointer};
}

static double as_real(struct check_value value)
{
    if (value.kind == CHECK_REAL) return value.real;
    return value.kind == CHECK_SIGNED ? (double)value.number : (double)value.natural;
}

static bool is_equal(struct check_value a, struct check_value b)
{
    if (a.kind == CHECK_POINTER || b.kind == CHECK_POINTER) {
        return a.kind == b.kind && a.pointer == b.pointer;
    }
    if (a.kind == CHECK_REAL || b.kind == CHECK_REAL) {
        double difference = as_real(a) - as_real(b);
        return !(difference < 0) && !(difference > 0) && difference == difference;
    }
    // A negative number has no equal among the naturals; all others have the same bits there.
    bool a_below_zero = a.kind == CHECK_SIGNED && a.number < 0;
    bool b_below_zero = b.kind == CHECK_SIGNED && b.number < 0;
    return a_below_zero == b_below_zero && a.natural == b.natural;
}

static void print_value(struct check_value value, char *out, size_t size)
{
    switch (value.kind) {
    case CHECK_SIGNED:
        (void)snprintf(out, size, "%" PRId64, value.number);
        break;
    case CHECK_UNSIGNED:
        (void)snprintf(out, size, "%" PRIu64 " (0x%" PRIx64 ")", value.natural, value.natural);
        break;
    case CHECK_REAL:
        (void)snprintf(out, size, "%.17g", value.real);
        break;
    case CHECK_POINTER:
        (void)snprintf(out, size, "%p", value.pointer);
        break;
    }
}

void bw_check_failed(const char *text, const char *file, int line)
{
    fail_test(file, line, "CHECK(%s) does not hold", text);
}

void bw_check_equal(struct check_value a, struct check_value b, const char *text_a,
                    const char *text_b, const char *file, int line)
{
    if (is_equal(a, b)) return;
    char value_a[64], value_b[64];
    print_value(a, value_a, sizeof(value_a));
    print_value(b, value_b, sizeof(value_b));
    fail_test(file, line, "CHECK_EQ(%s, %s)\n    left:  %s\n    right: %s", text_a, text_b, value_a,
              value_b);
}

void bw_check_text(const char *a, const char *b, const char *text_a, const char *text_b,
                   const char *file, int line)
{
    if (a && b ? strcmp(a, b) == 0 : a == b) return;
    fail_test(file, line, "CHECK_TEXT(%s, %s)\n    left:  %s%s%s\n    right: %s%s%s", text_a,
              text_b, a ? "\"" : "", a ? a : "NULL", a ? "\"" : "", b ? "\"" : "", b ? b : "NULL",
              b ? "\"" : "");
}

void bw_check_bytes(const void *a, const void *b, size_t size, const char *text, const char *file,
                    int line)
{
    const uint8_t *left = a, *right = b;
    size_t at = 0;
    while (at < size && left[at] == right[at]) at++;
    if (at == size) return;
    fail_test(file, line,
              "CHECK_BYTES(%s, %zu) differ at %zu\n    left:  0x%02x\n    right: 0x%02x", text,
              size, at, left[at], right[at]);
}

void bw_check_code(int found, int wanted, const char *text, const char *file, int line)
{
    if (found == wanted) return;
    fail_test(file, line, "%s\n    gave:   %d \"%s\"\n    wanted: %d", text, found,
              found ? bw_reason_text() : "", wanted);
}

uint64_t bw_test_seed(void)
{
    static uint64_t seed;
    static bool known;
    if (known) return seed;

    const char *given = getenv("BW_SEED");
    if (given && *given) {
        seed = strtoull(given, NULL, 0);
    } else {
        struct timespec now;
        (void)timespec_get(&now, TIME_UTC);
        uint64_t moment[3] = {(uint64_t)now.tv_sec, (uint64_t)now.tv_nsec, (uintptr_t)&now};
        seed = bw_hash64(moment, sizeof(moment), 0) >> 16; // short enough to type
    }
    known = true;
    (void)fprintf(stderr, "BW_SEED=%" PRIu64 "\n", seed);
    return seed;
}

void bw_check_leave_test(void) { on_test_thread = false; }

static void run_one(void **state)
{
    const struct check_test *test = *state;
    on_test_thread = true;
    test->run();
    on_test_thread = false;
}

int bw_check_run(const struct check_test *tests, size_t test_count, int argc, char **argv)
{
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    struct CMUnitTest *units = calloc(test_count, sizeof(*units));
    if (!units) abort();
    for (size_t i = 0; i < test_count; i++) {
        units[i].name = tests[i].name;
        units[i].test_func = run_one;
        units[i].initial_state = (void *)(uintptr_t)&tests[i]; // run_one only reads it
    }
    int failed_count = _cmocka_run_group_tests("tests", units, test_count, NULL, NULL);
    free(units);
    return failed_count ? 1 : 0;
}
