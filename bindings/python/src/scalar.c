/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers and truth: checked when an object is marshalled, so that an error names the place.
 */
#include "binding.h"

#include <float.h>
#include <math.h>

static const char *range_text(int64_t min, int64_t max)
{
    if (max == INT8_MAX) return "an integer from -128 to 127";
    if (max == INT16_MAX) return "an integer from -32768 to 32767";
    if (max == UINT16_MAX) return "an integer from 0 to 65535";
    if (max == INT32_MAX) return "a 32-bit integer";
    (void)min;
    return "a 64-bit integer";
}

static int long_value(const struct place *place, PyObject *value, int64_t min, int64_t max,
                      int64_t *out)
{
    int64_t number;
    if (!bwpy_small_int(value, &number)) {
        int overflow = 0;
        number = PyLong_AsLongLongAndOverflow(value, &overflow);
        if (overflow) return bwpy_raise_value(place, value, WRONG_RANGE, range_text(min, max));
    }
    if (number < min || number > max)
        return bwpy_raise_value(place, value, WRONG_RANGE, range_text(min, max));
    *out = number;
    return 0;
}

int bwpy_scalar_int(const struct place *place, PyObject *value, int64_t min, int64_t max,
                    int64_t *out)
{
    if (PyLong_Check(value)) return long_value(place, value, min, max, out);
    if (!PyIndex_Check(value))
        return bwpy_raise_value(place, value, WRONG_TYPE, range_text(min, max));
    PyObject *index = PyNumber_Index(value);
    if (!index) return bwpy_note_place(place);
    int err = long_value(place, index, min, max, out);
    Py_DECREF(index);
    return err;
}

int bwpy_scalar_id(const struct place *place, PyObject *value, obx_id *out)
{
    int64_t number = 0;
    if (PyLong_Check(value) && bwpy_small_int(value, &number) && number >= 0) {
        *out = (obx_id)number;
        return 0;
    }
    PyObject *index = PyIndex_Check(value) ? PyNumber_Index(value) : NULL;
    if (!index && PyErr_Occurred()) return bwpy_note_place(place);
    if (!index) return bwpy_raise_value(place, value, WRONG_TYPE, "an id (an integer)");
    unsigned long long id = PyLong_AsUnsignedLongLong(index);
    Py_DECREF(index);
    if (id == (unsigned long long)-1) { // an error, or the placeholder of the C library
        PyErr_Clear();
        return bwpy_raise_value(place, value, WRONG_RANGE, "an id (0 for a new object)");
    }
    *out = id;
    return 0;
}

int bwpy_scalar_float(const struct place *place, PyObject *value, bool is_single, double *out)
{
    double number;
    if (PyFloat_Check(value)) number = PyFloat_AsDouble(value);
    else if (PyLong_Check(value)) number = PyLong_AsDouble(value);
    else if (PyNumber_Check(value) && !PyComplex_Check(value)) number = PyFloat_AsDouble(value);
    else return bwpy_raise_value(place, value, WRONG_TYPE, "a number");
    if (number == -1.0 && PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_OverflowError)) return bwpy_note_place(place);
        PyErr_Clear();
        return bwpy_raise_value(place, value, WRONG_RANGE, "a 64-bit float");
    }
    // The largest double that still rounds to a float lies half a step above FLT_MAX.
    if (is_single && isfinite(number) && fabs(number) >= 3.4028235677973366e38)
        return bwpy_raise_value(place, value, WRONG_RANGE, "a 32-bit float");
    *out = number;
    return 0;
}

/* numpy's bool is neither an int nor does it have an index. */
static bool is_numpy_bool(PyObject *value)
{
    PyObject *name = PyType_GetName(Py_TYPE(value));
    bool is_one = name && (PyUnicode_CompareWithASCIIString(name, "bool") == 0 ||
                           PyUnicode_CompareWithASCIIString(name, "bool_") == 0);
    Py_XDECREF(name);
    return is_one;
}

int bwpy_scalar_bool(const struct place *place, PyObject *value, bool *out)
{
    if (!PyLong_Check(value) && !PyIndex_Check(value) && !is_numpy_bool(value))
        return bwpy_raise_value(place, value, WRONG_TYPE, "a bool");
    int truth = PyObject_IsTrue(value);
    if (truth < 0) return bwpy_note_place(place);
    *out = truth != 0;
    return 0;
}
