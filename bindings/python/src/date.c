/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dates: integers of milliseconds or nanoseconds since 1970 in the store; datetime, float seconds
 * or int in Python. Computed with integers, so that no digit is lost on the way; what a store
 * cannot hold (microseconds in a Date) is rounded half to even, as objectbox-python does.
 */
#include "binding.h"

#ifndef Py_LIMITED_API
#include <datetime.h>
#endif
#include <math.h>

static int64_t round_half_even(int64_t value, int64_t by)
{
    int64_t quotient = value / by, rest = value % by;
    if (rest < 0) {
        rest += by;
        quotient--;
    }
    if (2 * rest > by || (2 * rest == by && (quotient & 1))) quotient++;
    return quotient;
}

/* Microseconds since 1970 to the unit of the property. */
static int from_micros(const struct place *place, PyObject *value, int64_t micros,
                       int64_t per_second, int64_t *out)
{
    if (per_second == 1000) {
        *out = round_half_even(micros, 1000);
        return 0;
    }
    if (micros > INT64_MAX / 1000 || micros < INT64_MIN / 1000)
        return bwpy_raise_value(place, value, WRONG_RANGE, "a date from 1678 to 2262");
    *out = micros * 1000;
    return 0;
}

static int from_seconds(const struct place *place, PyObject *value, double seconds,
                        int64_t per_second, int64_t *out)
{
    double scaled = nearbyint(seconds * (double)per_second);
    if (!(scaled >= -9223372036854775808.0 && scaled < 9223372036854775808.0))
        return bwpy_raise_value(place, value, WRONG_RANGE, "seconds within 64 bits");
    *out = (int64_t)scaled;
    return 0;
}

/* An attribute that is an integer. */
static int get_part(PyObject *object, const char *name, int64_t *out)
{
    PyObject *part = PyObject_GetAttrString(object, name);
    if (!part) return -1;
    *out = PyLong_AsLongLong(part);
    Py_DECREF(part);
    return *out == -1 && PyErr_Occurred() ? -1 : 0;
}

/* By the object's own methods: whole seconds from timestamp(), the rest from microsecond. */
static int from_timestamp(const struct place *place, PyObject *value, int64_t per_second,
                          int64_t *out)
{
    int64_t micros;
    PyObject *stamp = PyObject_CallMethod(value, "timestamp", NULL);
    if (!stamp) return bwpy_note_place(place);
    double seconds = PyFloat_AsDouble(stamp);
    Py_DECREF(stamp);
    if ((seconds == -1.0 && PyErr_Occurred()) || get_part(value, "microsecond", &micros))
        return bwpy_note_place(place);
    double whole = nearbyint(seconds - (double)micros / 1e6);
    if (!(fabs(whole) < 1e12)) return bwpy_raise_value(place, value, WRONG_RANGE, "a date");
    return from_micros(place, value, (int64_t)whole * 1000000 + micros, per_second, out);
}

#ifndef Py_LIMITED_API

/* Days since 1970 of a day in the Gregorian calendar: years begin in March, so that leap days come
 * last. */
static int64_t days_from_civil(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400, of_era = year - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era = of_era * 365 + of_era / 4 - of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

static void civil_from_days(int64_t days, int *year, int *month, int *day)
{
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097, of_era = days - era * 146097;
    int64_t y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t day_of_year = of_era - (365 * y + y / 4 - y / 100), m = (5 * day_of_year + 2) / 153;
    *day = (int)(day_of_year - (153 * m + 2) / 5 + 1);
    *month = (int)(m < 10 ? m + 3 : m - 9);
    *year = (int)(y + era * 400 + (*month <= 2));
}

/* Of this interpreter: its header's global variable would be shared by all. */
static PyDateTime_CAPI *import_datetime(struct state *state)
{
    if (!state->datetime) state->datetime = PyCapsule_Import(PyDateTime_CAPSULE_NAME, 0);
    return state->datetime;
}

static int from_datetime(const struct place *place, PyObject *value, int64_t per_second,
                         int64_t *out)
{
    PyDateTime_CAPI *api = import_datetime(place->plan->layout->state);
    if (PyDateTime_DATE_GET_TZINFO(value) != api->TimeZone_UTC)
        return from_timestamp(place, value, per_second, out);
    int64_t days = days_from_civil(PyDateTime_GET_YEAR(value), PyDateTime_GET_MONTH(value),
                                   PyDateTime_GET_DAY(value));
    int64_t seconds = days * 86400 + PyDateTime_DATE_GET_HOUR(value) * 3600 +
                      PyDateTime_DATE_GET_MINUTE(value) * 60 + PyDateTime_DATE_GET_SECOND(value);
    int64_t micros = seconds * 1000000 + PyDateTime_DATE_GET_MICROSECOND(value);
    return from_micros(place, value, micros, per_second, out);
}

static PyObject *make_datetime(struct state *state, int64_t seconds, int64_t micros)
{
    int year, month, day;
    PyDateTime_CAPI *api = import_datetime(state);
    if (!api) return NULL;
    int64_t days = seconds / 86400 - (seconds % 86400 < 0), rest = seconds - days * 86400;
    civil_from_days(days, &year, &month, &day);
    return api->DateTime_FromDateAndTime(year, month, day, (int)(rest / 3600),
                                         (int)(rest / 60 % 60), (int)(rest % 60), (int)micros,
                                         api->TimeZone_UTC, api->DateTimeType);
}

static bool is_datetime(struct state *state, PyObject *value)
{
    PyDateTime_CAPI *api = import_datetime(state);
    return api && PyObject_TypeCheck(value, api->DateTimeType);
}

#else

static bool is_datetime(struct state *state, PyObject *value)
{
    (void)state;
    PyObject *module = PyImport_ImportModule("datetime");
    PyObject *type = module ? PyObject_GetAttrString(module, "datetime") : NULL;
    int is_one = type ? PyObject_IsInstance(value, type) : 0;
    Py_XDECREF(type);
    Py_XDECREF(module);
    return is_one > 0;
}

static int from_datetime(const struct place *place, PyObject *value, int64_t per_second,
                         int64_t *out)
{
    return from_timestamp(place, value, per_second, out);
}

static PyObject *make_datetime(struct state *state, int64_t seconds, int64_t micros)
{
    (void)state;
    PyObject *module = PyImport_ImportModule("datetime"), *made = NULL;
    PyObject *type = module ? PyObject_GetAttrString(module, "datetime") : NULL;
    PyObject *delta = module ? PyObject_GetAttrString(module, "timedelta") : NULL;
    PyObject *zone = module ? PyObject_GetAttrString(module, "timezone") : NULL;
    PyObject *utc = zone ? PyObject_GetAttrString(zone, "utc") : NULL;
    PyObject *epoch =
        utc && type ? PyObject_CallFunction(type, "iiiiiiiO", 1970, 1, 1, 0, 0, 0, 0, utc) : NULL;
    PyObject *since =
        delta ? PyObject_CallFunction(delta, "LLL", seconds / 86400, seconds % 86400, micros)
              : NULL;
    if (epoch && since) made = PyNumber_Add(epoch, since);
    PyObject *all[] = {module, type, delta, zone, utc, epoch, since};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) Py_XDECREF(all[i]);
    return made;
}

#endif

int bwpy_date_value(const struct place *place, PyObject *value, int64_t per_second, int64_t *out)
{
    if (PyLong_Check(value)) return bwpy_scalar_int(place, value, INT64_MIN, INT64_MAX, out);
    if (PyFloat_Check(value))
        return from_seconds(place, value, PyFloat_AsDouble(value), per_second, out);
    if (is_datetime(place->plan->layout->state, value))
        return from_datetime(place, value, per_second, out);
    if (PyErr_Occurred()) return -1;
    if (PyIndex_Check(value)) return bwpy_scalar_int(place, value, INT64_MIN, INT64_MAX, out);
    return bwpy_raise_value(place, value, WRONG_TYPE,
                            per_second == 1000 ? "a datetime, float seconds or int milliseconds"
                                               : "a datetime, float seconds or int nanoseconds");
}

PyObject *bwpy_date_read(struct state *state, const struct field *field, int64_t value)
{
    int64_t per_second = field->kind == KIND_DATE ? 1000 : 1000000000;
    if (field->form == FORM_PLAIN) return PyLong_FromLongLong(value);
    if (field->form == FORM_SECONDS) return PyFloat_FromDouble((double)value / (double)per_second);
    int64_t seconds = value / per_second - (value % per_second < 0);
    int64_t rest = value - seconds * per_second;
    if (seconds < -62135596800 || seconds > 253402300799) {
        PyErr_Format(
            PyExc_ValueError,
            "a stored date lies outside the years 1 to 9999 that datetime knows; declare the "
            "property with py_type=int to read it");
        return NULL;
    }
    return make_datetime(state, seconds, per_second == 1000 ? rest * 1000 : rest / 1000);
}
