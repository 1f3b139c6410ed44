/* SPDX-License-Identifier: Apache-2.0 */
#include "api/version.h"

#include <stdatomic.h>
#include <stdio.h>

#include "api/argument.h"
#include "api/exported.h"

// The level of the ABI that this library is at, and what follows it in the core string.
static const struct version own = {OBX_VERSION_MAJOR, OBX_VERSION_MINOR, OBX_VERSION_PATCH};
static const char own_date[] = "2026-10-01";

enum { PART_MAX = 999 };

static struct {
    _Atomic bool is_known;
    struct mutex mutex; /* while finding out */
    struct version version;
    char text[16];      /* "5.3.2" */
    char core_text[64]; /* "5.3.2-next-2026-10-01 (Boxwood)" */
} reported;

/* The number at *at, which must be followed by `end`; *at then stands behind that. */
static bool parse_part(const char **at, char end, int *out_part)
{
    const char *start = *at;
    int part = 0;
    while (**at >= '0' && **at <= '9' && part <= PART_MAX) {
        part = part * 10 + (**at - '0');
        (*at)++;
    }
    if (*at == start || part > PART_MAX || **at != end) return false;
    if (end) (*at)++;
    *out_part = part;
    return true;
}

bool bw_version_parse(const char *text, struct version *out_version)
{
    struct version found = {0};
    if (!parse_part(&text, '.', &found.major) || !parse_part(&text, '.', &found.minor) ||
        !parse_part(&text, 0, &found.patch)) {
        return false;
    }
    *out_version = found;
    return true;
}

static void find_out(void)
{
    struct version version = own;
    const char *wanted = bw_environment("OBX_REPORT_VERSION");
    if (wanted) (void)bw_version_parse(wanted, &version);
    reported.version = version;
    (void)snprintf(reported.text, sizeof(reported.text), "%d.%d.%d", version.major, version.minor,
                   version.patch);
    // "next" sorts behind the dates that bindings ask for as the least.
    (void)snprintf(reported.core_text, sizeof(reported.core_text), "%s-next-%s (Boxwood)",
                   reported.text, own_date);
}

static void know(void)
{
    if (LIKELY(atomic_load_explicit(&reported.is_known, memory_order_acquire))) return;
    bw_mutex_lock(&reported.mutex);
    if (!atomic_load_explicit(&reported.is_known, memory_order_relaxed)) find_out();
    atomic_store_explicit(&reported.is_known, true, memory_order_release);
    bw_mutex_unlock(&reported.mutex);
}

struct version bw_version_reported(void)
{
    know();
    return reported.version;
}

void obx_version(int *major, int *minor, int *patch)
{
    const struct version version = bw_version_reported();
    if (major) *major = version.major;
    if (minor) *minor = version.minor;
    if (patch) *patch = version.patch;
}

bool obx_version_is_at_least(int major, int minor, int patch)
{
    const struct version version = bw_version_reported();
    if (version.major != major) return version.major > major;
    if (version.minor != minor) return version.minor > minor;
    return version.patch >= patch;
}

const char *obx_version_string(void)
{
    know();
    return reported.text;
}

const char *obx_version_date_string(void) { return own_date; }

const char *obx_version_core_string(void)
{
    know();
    return reported.core_text;
}

bool obx_has_feature(OBXFeature feature)
{
    switch ((int)feature) {
    case 0:
        return bw_argument_no_id(bw_fail(BW_ERR_ILLEGAL_ARGUMENT, "Illegal feature (zero)"));
    case OBXFeature_ResultArray:
        return sizeof(void *) >= 8;
    case OBXFeature_Lmdb: // what it promises: stores on disk
    case OBXFeature_Backup:
        return true;
    default:
        return false;
    }
}

// ---- log levels ----

// Sorted by the numbers of today and, as it happens, by those before 5.3, which had no Trace.
static const struct {
    int level, before_5_3;
} levels[] = {
    {OBXLogLevel_All, 0},    {OBXLogLevel_Trace, 10}, {OBXLogLevel_Verbose, 10},
    {OBXLogLevel_Debug, 20}, {OBXLogLevel_Info, 30},  {OBXLogLevel_Warn, 40},
    {OBXLogLevel_Error, 50}, {OBXLogLevel_None, 60},
};

int bw_version_log_level(int level)
{
    const struct version version = bw_version_reported();
    if (version.major > 5 || (version.major == 5 && version.minor >= 3)) return level;
    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        if (levels[i].level == level) return levels[i].before_5_3;
    }
    return level;
}

// In the numbers of the reported version; below 0: not set.
static _Atomic int log_level = -1;

obx_err obx_log_level_set(OBXLogLevel level)
{
    if ((int)level < 0) return ARGUMENT_CONDITION(log_level >= 0);
    atomic_store(&log_level, (int)level);
    return OBX_SUCCESS;
}

OBXLogLevel obx_log_level_get(void)
{
    const int level = atomic_load(&log_level);
    return (OBXLogLevel)(level < 0 ? bw_version_log_level(OBXLogLevel_Info) : level);
}
