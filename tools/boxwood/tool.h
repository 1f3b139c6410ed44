/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command-line tool: what its verbs share. It knows the library by its public headers only.
 *
 * A verb is one file with one function, and one row in the table of main.c.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include <boxwood.h>

/* What scripts may rely on. */
enum exit_code {
    EXIT_FINE = 0,
    EXIT_PROBLEMS = 1,
    EXIT_USAGE = 2,
    EXIT_NO_ACCESS = 3, /* the store cannot be opened, or a call failed */
};

struct options {
    bool is_json, shows_progress, pages_only;
};

struct verb {
    const char *name;
    const char *arguments; /* as --help shows them */
    const char *purpose;
    int count_min, count_max; /* of arguments */
    enum exit_code (*run)(const struct options *options, char **arguments, int count);
};

/* ---- verb_check.c, verb_salvage.c, verb_stat.c ---- */

enum exit_code run_check(const struct options *options, char **arguments, int count);
enum exit_code run_salvage(const struct options *options, char **arguments, int count);
enum exit_code run_stat(const struct options *options, char **arguments, int count);

/* ---- main.c ---- */

/* Open an existing store, for reading only, with the schema that it has. NULL: told. */
OBX_store *open_existing(const char *directory);

/* Tell on stderr what failed, and give the code to exit with. */
enum exit_code tell_failure(const char *directory, const boxwood_failure *failure);

/* How far the work on a directory is; to be handed to the library with a struct work. */
struct work {
    const char *name;
    int shown; /* percent */
};
boxwood_progress show_progress;
boxwood_progress *progress_of(const struct options *options);
/* Begin a line of one's own after progress. */
void end_progress(const struct options *options);

/* ---- json.c ---- */

/* One object a line: begin, members, end. */
void json_begin(void);
void json_text(const char *name, const char *text);
void json_number(const char *name, uint64_t number);
void json_bool(const char *name, bool value);
void json_array(const char *name); /* until json_array_end */
void json_item(const char *text);  /* a text in an array */
void json_object(void);            /* an object in an array, until json_object_end */
void json_object_end(void);
void json_array_end(void);
void json_end(void);
