/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stranger's program, compiled as C11 and as C++17 against the installed package by installed.sh:
 * it makes a store in the folder it is given, opens it again, and counts.
 */
#include <boxwood.h>
#include <objectbox.h>

#include <stdio.h>
#include <string.h>

/* A FlatBuffer with one field, the id 1 in the first slot. */
static const uint8_t object[] = {12, 0, 0, 0, 6, 0, 12, 0, 4, 0, 0, 0,
                                 8,  0, 0, 0, 1, 0, 0,  0, 0, 0, 0, 0};

static int fail(const char *what)
{
    (void)fprintf(stderr, "%s: %d %s\n", what, obx_last_error_code(), obx_last_error_message());
    return 1;
}

static OBX_model *thing_model(void)
{
    OBX_model *model = obx_model();
    obx_model_entity(model, "Thing", 1, 101);
    obx_model_property(model, "id", OBXPropertyType_Long, 1, 1001);
    obx_model_property_flags(model, OBXPropertyFlags_ID);
    obx_model_entity_last_property_id(model, 1, 1001);
    obx_model_last_entity_id(model, 1, 101);
    return model;
}

static int visit_store(const char *folder, bool put, uint64_t expected)
{
    OBX_store_options *options = obx_opt();
    obx_opt_directory(options, folder);
    obx_opt_model(options, thing_model());
    OBX_store *store = obx_store_open(options);
    if (!store) return fail("open");

    OBX_box *box = obx_box(store, 1);
    if (!box) return fail("box");
    if (put && obx_box_put(box, 1, object, sizeof(object)) != 0) return fail("put");
    uint64_t count = 0;
    if (obx_box_count(box, 0, &count) != 0) return fail("count");
    if (obx_store_close(store) != 0) return fail("close");
    if (count == expected) return 0;
    (void)fprintf(stderr, "counted %u\n", (unsigned)count);
    return 1;
}

int main(int argument_count, char **arguments)
{
    if (argument_count != 2) return 2;
    boxwood_failure failure;
    memset(&failure, 0, sizeof(failure));
    boxwood_model *model = NULL;
    if (boxwood_model_compile(thing_model(), &model, &failure) != 0) return fail(failure.message);
    boxwood_model_release(model);
    if (visit_store(arguments[1], true, 1) || visit_store(arguments[1], false, 1)) return 1;
    (void)printf("%s\n", obx_version_string());
    return 0;
}
