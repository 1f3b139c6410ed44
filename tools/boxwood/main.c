/* SPDX-License-Identifier: Apache-2.0 */
/* The command-line tool: verbs, options, help. */
#define _POSIX_C_SOURCE 200809L // fileno

#include "tool.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#ifdef _WIN32
#include <io.h>
#define isatty _isatty
#define fileno _fileno
#else
#include <unistd.h>
#endif

static const struct verb verbs[] = {
    {"check", "DIR...", "prove that every page and object is as it should be", 1, INT_MAX,
     run_check},
    {"salvage", "DIR NEW_DIR", "write what can be had of a damaged store to a new one", 2, 2,
     run_salvage},
    {"stat", "DIR...", "size of the file, bytes in use, number of the newest commit", 1, INT_MAX,
     run_stat},
};

enum { VERBS = sizeof(verbs) / sizeof(verbs[0]) };

static void help(FILE *to)
{
    (void)fputs("boxwood - look after stores of the Boxwood database\n\nusage: boxwood VERB "
                "[OPTIONS] DIR...\n\n",
                to);
    for (int i = 0; i < VERBS; i++)
        (void)fprintf(to, "  %-8s%-14s%s\n", verbs[i].name, verbs[i].arguments, verbs[i].purpose);
    (void)fputs("\noptions:\n"
                "  --json         one JSON object a line instead of text\n"
                "  --progress     show how far the work is, also when stderr is no terminal\n"
                "  --pages-only   check: leave objects out\n"
                "  --help, --version\n"
                "\nDIR is a store's directory, the one with data.mdb in it. No verb changes it. "
                "A store that\na program has open for writing cannot be looked at.\n"
                "\nexit codes: 0 fine, 1 problems found (salvage: not everything came back for "
                "certain),\n2 wrong usage, 3 a store cannot be opened, read or written. Of several "
                "stores the highest.\n",
                to);
}

// ---- what verbs share ----

enum exit_code tell_failure(const char *directory, const boxwood_failure *failure)
{
    (void)fprintf(stderr, "boxwood: %s: %s (%d)\n", directory, failure->message,
                  (int)failure->code);
    return EXIT_NO_ACCESS;
}

OBX_store *open_existing(const char *directory)
{
    boxwood_failure failure = {0};
    OBX_store *store = NULL;
    OBX_store_options *options = obx_opt();
    if (options && obx_opt_directory(options, directory) == 0) {
        obx_opt_read_only(options, true);
        if (boxwood_store_open(options, &store, &failure) == 0) return store;
        (void)tell_failure(directory, &failure);
        return NULL;
    }
    (void)fprintf(stderr, "boxwood: %s: %s\n", directory, obx_last_error_message());
    obx_opt_free(options);
    return NULL;
}

bool show_progress(void *user_data, uint64_t done, uint64_t total)
{
    struct work *work = user_data;
    const int percent = total ? (int)(done * 100 / total) : 100;
    if (percent == work->shown && done) return true;
    work->shown = percent;
    (void)fprintf(stderr, "\r%s: %3d %%", work->name, percent);
    (void)fflush(stderr);
    return true;
}

boxwood_progress *progress_of(const struct options *options)
{
    return options->shows_progress ? show_progress : NULL;
}

void end_progress(const struct options *options)
{
    if (options->shows_progress) (void)fputc('\n', stderr);
}

// ---- the command line ----

static enum exit_code usage(const char *what, const char *which)
{
    (void)fprintf(stderr, "boxwood: %s%s; see boxwood --help\n", what, which);
    return EXIT_USAGE;
}

/* Take options out of the arguments. NULL: all known, else the first that is not. */
static const char *take_options(struct options *options, char **arguments, int *in_out_count)
{
    int count = 0;
    bool is_over = false; // "--": only directories follow
    for (int i = 0; i < *in_out_count; i++) {
        char *argument = arguments[i];
        if (is_over || argument[0] != '-') arguments[count++] = argument;
        else if (strcmp(argument, "--") == 0) is_over = true;
        else if (strcmp(argument, "--json") == 0) options->is_json = true;
        else if (strcmp(argument, "--progress") == 0) options->shows_progress = true;
        else if (strcmp(argument, "--pages-only") == 0) options->pages_only = true;
        else return argument;
    }
    *in_out_count = count;
    return NULL;
}

static enum exit_code run(const struct verb *verb, char **arguments, int count)
{
    struct options options = {.shows_progress = isatty(fileno(stderr)) != 0};
    const char *unknown = take_options(&options, arguments, &count);
    if (unknown) return usage("unknown option ", unknown);
    if (count < verb->count_min || count > verb->count_max)
        return usage("wrong number of directories for ", verb->name);
    return verb->run(&options, arguments, count);
}

int main(int argument_count, char **arguments)
{
    const char *name = argument_count > 1 ? arguments[1] : "";
    for (int i = 1; i < argument_count; i++) {
        if (strcmp(arguments[i], "--help") == 0 || strcmp(name, "help") == 0) {
            help(stdout);
            return EXIT_FINE;
        }
    }
    if (strcmp(name, "--version") == 0) {
        (void)puts("boxwood " TOOL_VERSION);
        return EXIT_FINE;
    }
    for (int i = 0; i < VERBS; i++) {
        if (strcmp(name, verbs[i].name) != 0) continue;
        const enum exit_code code = run(&verbs[i], arguments + 2, argument_count - 2);
        return fflush(stdout) == 0 ? (int)code : EXIT_NO_ACCESS;
    }
    return (int)(*name ? usage("unknown verb ", name) : usage("no verb given", ""));
}
