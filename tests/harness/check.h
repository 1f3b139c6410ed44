/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks and the frame of a test program, over cmocka.
 *
 *     static void a_sentence_about_behaviour(void) { CHECK_EQ(1 + 1, 2); }
 *     RUN_TESTS(TEST(a_sentence_about_behaviour))
 *
 * A check that does not hold prints its place and both values, and ends its test; on another thread
 * than the test's own it ends the program. Run alone, a test program takes a pattern of test names:
 * test_unit_base_hash 'hashes_*'.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

/* A value of any type that CHECK_EQ compares. */
struct check_value {
    enum { CHECK_SIGNED, CHECK_UNSIGNED, CHECK_REAL, CHECK_POINTER } kind;
    union {
        int64_t number;
        uint64_t natural;
        double real;
        const void *pointer;
    };
};

struct check_test {
    const char *name;
    void (*run)(void);
};

#define CHECK(condition) ((condition) ? (void)0 : bw_check_failed(#condition, __FILE__, __LINE__))

/* Equal as numbers: -1 is not UINT64_MAX. Also for pointers and, exactly, for doubles. */
#define CHECK_EQ(a, b) bw_check_equal(CHECK_VALUE(a), CHECK_VALUE(b), #a, #b, __FILE__, __LINE__)

/* NUL-terminated texts; NULL equals NULL only. */
#define CHECK_TEXT(a, b) bw_check_text(a, b, #a, #b, __FILE__, __LINE__)

/* size bytes at both places. Prints the first that differs. */
#define CHECK_BYTES(a, b, size) bw_check_bytes(a, b, size, #a ", " #b, __FILE__, __LINE__)

/* A call that must succeed; otherwise its code and the reason are printed. */
#define CHECK_OK(call) bw_check_code((int)(call), 0, #call, __FILE__, __LINE__)

/* A call that must fail, with this code. */
#define CHECK_ERR(call, code) bw_check_code((int)(call), (int)(code), #call, __FILE__, __LINE__)

#define TEST(function) {#function, function}

#define RUN_TESTS(...)                                                            \
    int main(int argc, char **argv)                                               \
    {                                                                             \
        static const struct check_test tests[] = {__VA_ARGS__};                   \
        return bw_check_run(tests, sizeof(tests) / sizeof(tests[0]), argc, argv); \
    }

/*
 * The seed of this run, the same in every call: the environment's BW_SEED (decimal, or hexadecimal
 * with 0x), else a random one. The first call prints it, so that what fails later can be repeated.
 */
uint64_t bw_test_seed(void);

/* In a process that a test forked: from here on a failed check ends the process. */
void bw_check_leave_test(void);

// ---- behind the macros ----

#define CHECK_VALUE(x)                         \
    _Generic((x),                              \
        bool: bw_check_unsigned,               \
        char: bw_check_signed,                 \
        signed char: bw_check_signed,          \
        short: bw_check_signed,                \
        int: bw_check_signed,                  \
        long: bw_check_signed,                 \
        long long: bw_check_signed,            \
        unsigned char: bw_check_unsigned,      \
        unsigned short: bw_check_unsigned,     \
        unsigned int: bw_check_unsigned,       \
        unsigned long: bw_check_unsigned,      \
        unsigned long long: bw_check_unsigned, \
        float: bw_check_real,                  \
        double: bw_check_real,                 \
        default: bw_check_pointer)(x)

struct check_value bw_check_signed(int64_t number);
struct check_value bw_check_unsigned(uint64_t number);
struct check_value bw_check_real(double number);
struct check_value bw_check_pointer(const void *pointer);

_Noreturn void bw_check_failed(const char *text, const char *file, int line);
void bw_check_equal(struct check_value a, struct check_value b, const char *text_a,
                    const char *text_b, const char *file, int line);
void bw_check_text(const char *a, const char *b, const char *text_a, const char *text_b,
                   const char *file, int line);
void bw_check_bytes(const void *a, const void *b, size_t size, const char *text, const char *file,
                    int line);
void bw_check_code(int found, int wanted, const char *text, const char *file, int line);
int bw_check_run(const struct check_test *tests, size_t test_count, int argc, char **argv);
