/* SPDX-License-Identifier: Apache-2.0 */
#include "store/space.h"

#include "harness/check.h"

/* Regions so small that a few hundred pages have several of them, none on a whole byte. */
static const struct geometry small = {
    .inline_pages = 22,
    .region_pages = 34,
    .bitmap_copies = 4,
    .manifest_runs = 12,
    .manifest_pages = 12,
};

enum { LIMIT = 1 << 20 };

static page_no take(struct space *space, uint32_t pages)
{
    page_no page = 0;
    bool found = false;
    CHECK_OK(bw_space_take(space, pages, LIMIT, &page, &found));
    CHECK(found);
    return page;
}

/* Free a page of an earlier transaction in this one, and publish that. */
static void free_in(struct space *space, page_no page, uint32_t pages, uint64_t born, uint64_t txn)
{
    CHECK_OK(bw_space_reserve_freed(space, 1));
    bw_space_note_freed(space, page, pages, born);
    CHECK_OK(bw_space_prepare_publish(space));
    bw_space_publish(space, txn);
}

static void publish(struct space *space, uint64_t txn)
{
    CHECK_OK(bw_space_prepare_publish(space));
    bw_space_publish(space, txn);
}

static void a_fresh_space_holds_the_two_slots(void)
{
    struct space space;
    CHECK_OK(bw_space_init(&space, &bw_geometry_default));
    CHECK(bw_space_is_used(&space, 0));
    CHECK(bw_space_is_used(&space, 1));
    CHECK(!bw_space_is_used(&space, 2));
    CHECK(!bw_space_is_used(&space, 4000000));
    CHECK_EQ(bw_space_hwm(&space), 2);
    CHECK_EQ(bw_space_used_pages(&space), 2);
    bw_space_deinit(&space);
    CHECK_EQ(bw_memory_blocks(), 0);
}

static void the_lowest_run_that_is_long_enough_is_taken(void)
{
    struct space space;
    CHECK_OK(bw_space_init(&space, &bw_geometry_default));
    bw_space_set_used(&space, 5);
    CHECK_EQ(take(&space, 4), 6);
    CHECK_EQ(take(&space, 3), 2);
    CHECK_EQ(take(&space, 1), 10);
    CHECK_EQ(bw_space_hwm(&space), 11);
    bw_space_deinit(&space);
}

static void what_is_given_back_is_taken_again_at_once(void)
{
    struct space space;
    CHECK_OK(bw_space_init(&space, &bw_geometry_default));
    CHECK_EQ(take(&space, 8), 2);
    CHECK_EQ(take(&space, 1), 10);
    bw_space_give_taken(&space, 5, 5);
    CHECK(!bw_space_is_used(&space, 5));
    CHECK_EQ(take(&space, 6), 11);
    CHECK_EQ(take(&space, 4), 5);
    CHECK_EQ(take(&space, 1), 9);
    CHECK_EQ(take(&space, 1), 17);
    bw_space_deinit(&space);
}

static void a_run_ends_at_the_limit(void)
{
    struct space space;
    page_no page = 77;
    bool found = true;
    CHECK_OK(bw_space_init(&space, &bw_geometry_default));
    CHECK_OK(bw_space_take(&space, 8, 9, &page, &found));
    CHECK(!found);
    CHECK_EQ(page, 77);
    CHECK_OK(bw_space_take(&space, 7, 9, &page, &found));
    CHECK(found);
    CHECK_EQ(page, 2);
    CHECK_OK(bw_space_take(&space, 1, 9, &page, &found));
    CHECK(!found);
    CHECK_OK(bw_space_take(&space, 1, 0, &page, &found));
    CHECK(!found);
    CHECK_EQ(bw_space_hwm(&space), 9);
    bw_space_deinit(&space);
}

static void no_run_crosses_a_window(void)
{
    struct space space;
    CHECK_OK(bw_space_init(&space, &bw_geometry_default));
    const page_no reserved = bw_space_region_start(&bw_geometry_default, 0);
    CHECK_EQ(take(&space, reserved - 2), 2);
    CHECK_EQ(take(&space, WINDOW_PAGES - reserved - 4 - 3), reserved + 4); // three are left
    CHECK_EQ(take(&space, 4), WINDOW_PAGES + 4); // behind the places of the next region
    CHECK_EQ(take(&space, 3), WINDOW_PAGES - 3);
    CHECK_EQ(take(&space, OVERFLOW_PAGES_MAX), 2 * WINDOW_PAGES + 4);
    CHECK_EQ(take(&space, OVERFLOW_PAGES_MAX), 3 * WINDOW_PAGES + 4);
    CHECK_EQ(take(&space, 1), WINDOW_PAGES + 8);
    bw_space_deinit(&space);
}

static void places_of_bitmaps_are_never_given_out(void)
{
    struct space space;
    CHECK_OK(bw_space_init(&space, &small));
    CHECK_EQ(bw_space_region_start(&small, 0), 22);
    CHECK_EQ(bw_space_region_start(&small, 3), 102);
    for (unsigned i = 0; i < 200; i++) {
        const page_no page = take(&space, 1);
        CHECK(!bw_space_is_reserved(&small, page));
    }
    // Two slots, 200 pages, and four places in each of the regions below the last page.
    const page_no last = bw_space_hwm(&space) - 1;
    CHECK_EQ(last + 1, 2 + 200 + 4 * (last / 34 + 1));
    CHECK_EQ(bw_space_used_pages(&space), 202);
    bw_space_deinit(&space);
}

static void longer_runs_do_not_touch_them_either(void)
{
    struct space space;
    CHECK_OK(bw_space_init(&space, &small));
    CHECK_EQ(take(&space, 15), 2);
    CHECK_EQ(take(&space, 8), 26);  // 17 to 21 are too few, 22 to 25 reserved
    CHECK_EQ(take(&space, 20), 38); // 34 to 37 reserved
    CHECK_EQ(take(&space, 5), 17);
    CHECK_EQ(take(&space, 30), 72);
    CHECK_EQ(take(&space, 10), 58);
    bw_space_deinit(&space);
}

static void a_pin_keeps_what_it_can_see(void)
{
    static const struct {
        uint64_t born, freed, pin;
        bool is_kept;
    } table[] = {
        {3, 7, 2, false}, {3, 7, 3, true},  {3, 7, 6, true},  {3, 7, 7, false},
        {3, 7, 8, false}, {0, 7, 0, true},  {0, 7, 6, true},  {0, 7, 7, false},
        {6, 7, 6, true},  {6, 7, 5, false}, {7, 7, 7, false}, {1, UINT64_MAX, UINT64_MAX - 1, true},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct space space;
        CHECK_OK(bw_space_init(&space, &bw_geometry_default));
        bw_space_set_used(&space, 2);
        free_in(&space, 2, 1, table[i].born, table[i].freed);
        bw_space_ripen(&space, &table[i].pin, 1);
        const page_no page = take(&space, 1);
        CHECK_EQ(page, table[i].is_kept ? 3 : 2);
        bw_space_deinit(&space);
    }
}

static void one_pin_among_many_is_enough(void)
{
    struct space space;
    const uint64_t pins[] = {20, 12, 9, 2}, later[] = {20, 12, 2};
    CHECK_OK(bw_space_init(&space, &bw_geometry_default));
    bw_space_set_used(&space, 2);
    free_in(&space, 2, 1, 8, 12);
    bw_space_ripen(&space, pins, 4);
    CHECK_EQ(take(&space, 1), 3);
    publish(&space, 13);
    bw_space_ripen(&space, later, 3);
    CHECK_EQ(take(&space, 1), 2);
    publish(&space, 14);
    bw_space_ripen(&space, NULL, 0);
    CHECK_EQ(take(&space, 1), 4);
    bw_space_deinit(&space);
}

static void what_is_kept_was_there_before_the_transaction(void)
{
    struct space space;
    CHECK_OK(bw_space_init(&space, &bw_geometry_default));
    CHECK_EQ(take(&space, 100), 2);
    CHECK(!bw_space_are_kept(&space, 2, 1)); // taken, not kept
    CHECK(!bw_space_is_known(&space, 2));
    publish(&space, 1);
    CHECK(bw_space_are_kept(&space, 2, 100)); // across words
    CHECK(bw_space_is_known(&space, 101));
    CHECK(!bw_space_are_kept(&space, 2, 101));
    CHECK(!bw_space_are_kept(&space, 1, 2)); // a slot
    CHECK(!bw_space_are_kept(&space, space.room, 1));
    CHECK(!bw_space_are_kept(&space, 50, UINT32_MAX));
    CHECK_OK(bw_space_reserve_freed(&space, 1));
    bw_space_note_freed(&space, 70, 1, 1);
    CHECK(!bw_space_are_kept(&space, 64, 7));
    CHECK(bw_space_are_kept(&space, 64, 6) && bw_space_is_known(&space, 70));
    CHECK_EQ(take(&space, 1), 102);
    bw_space_undo(&space);
    CHECK(bw_space_are_kept(&space, 64, 7));
    CHECK(!bw_space_is_known(&space, 102)); // nothing was written there
    bw_space_deinit(&space);
}

static void what_the_running_transaction_freed_is_not_given_out(void)
{
    struct space space;
    CHECK_OK(bw_space_init(&space, &bw_geometry_default));
    CHECK_EQ(take(&space, 3), 2);
    publish(&space, 1);
    CHECK_OK(bw_space_reserve_freed(&space, 1));
    bw_space_note_freed(&space, 3, 1, 1);
    CHECK(!bw_space_is_used(&space, 3));
    CHECK_EQ(take(&space, 1), 5);
    publish(&space, 2);
    CHECK_EQ(take(&space, 1), 6); // still pending
    const uint64_t pin = 2;
    bw_space_ripen(&space, &pin, 1);
    CHECK_EQ(take(&space, 1), 3);
    bw_space_deinit(&space);
}

static void pages_known_to_wait_are_busy_but_not_used(void)
{
    struct space space;
    const uint64_t pins[] = {4, 5};
    CHECK_OK(bw_space_init(&space, &bw_geometry_default));
    CHECK_OK(bw_space_add_pending(&space, (struct page_run){.page = 2, .pages = 3, .freed = 5}));
    CHECK_OK(bw_space_add_pending(&space, (struct page_run){.page = 700, .pages = 1, .freed = 5}));
    CHECK(!bw_space_is_used(&space, 2));
    CHECK_EQ(bw_space_hwm(&space), 2);
    bw_space_ripen(&space, pins, 2);
    CHECK_EQ(take(&space, 1), 5);
    CHECK_EQ(take(&space, 695), 701);
    publish(&space, 6);
    bw_space_ripen(&space, pins + 1, 1);
    CHECK_EQ(take(&space, 3), 2);
    CHECK_EQ(take(&space, 695), 6);
    bw_space_deinit(&space);
}

static void undo_forgets_the_transaction(void)
{
    struct space space;
    CHECK_OK(bw_space_init(&space, &bw_geometry_default));
    CHECK_EQ(take(&space, 10), 2);
    publish(&space, 1);
    CHECK_EQ(take(&space, 2000), 12); // more than is covered so far
    CHECK_EQ(take(&space, 4), 2012);
    bw_space_give_taken(&space, 2013, 1);
    CHECK_OK(bw_space_reserve_freed(&space, 2));
    bw_space_note_freed(&space, 4, 2, 1);
    bw_space_note_freed(&space, 11, 1, 1);
    bw_space_undo(&space);
    for (page_no page = 0; page < 2100; page++) CHECK_EQ(bw_space_is_used(&space, page), page < 12);
    CHECK_EQ(bw_space_hwm(&space), 12);
    CHECK_EQ(take(&space, 2), 12);
    bw_space_ripen(&space, NULL, 0);
    CHECK_EQ(take(&space, 2), 14); // nothing was left pending
    bw_space_deinit(&space);
}

static void bits_are_the_used_pages_and_the_reserved_places(void)
{
    struct space space;
    CHECK_OK(bw_space_init(&space, &small));
    struct random random;
    bw_random_seed(&random, 11);
    for (page_no page = 2; page < 380; page++)
        if (bw_random_percent(&random, 50) && !bw_space_is_reserved(&small, page)) {
            CHECK_OK(bw_space_cover(&space, page + 1));
            bw_space_set_used(&space, page);
        }
    for (uint32_t region = 0; region < 40; region++) { // the last ones lie beyond room
        const page_no first = region * small.region_pages;
        uint8_t bits[8];
        bw_space_write_bits(&space, first, small.region_pages, bits);
        for (uint32_t i = 0; i < small.region_pages; i++) {
            const bool wanted =
                bw_space_is_used(&space, first + i) || bw_space_is_reserved(&small, first + i);
            CHECK_EQ(bits[i / 8] >> i % 8 & 1, wanted);
        }
        for (uint32_t i = small.region_pages; i < 40; i++) CHECK_EQ(bits[i / 8] >> i % 8 & 1, 0);
    }
    bw_space_deinit(&space);
}

static void bits_of_a_small_file_have_no_reserved_places(void)
{
    struct space space;
    uint8_t bits[3] = {0xff, 0xff, 0xff};
    CHECK_OK(bw_space_init(&space, &small));
    CHECK_EQ(take(&space, 1), 2);
    CHECK_EQ(take(&space, 1), 3);
    bw_space_give_taken(&space, 2, 1);
    bw_space_write_bits(&space, 0, 20, bits);
    CHECK_EQ(bits[0], 0x0b);
    CHECK_EQ(bits[1], 0);
    CHECK_EQ(bits[2], 0);
    bw_space_deinit(&space);
}

static void bits_from_within_a_region_may_lie_behind_its_reserved_places(void)
{
    struct space space;
    uint8_t bits[1] = {0};
    CHECK_OK(bw_space_init(&space, &small));
    bw_space_set_used(&space, 38);
    bw_space_write_bits(&space, 36, 8, bits); // 34 to 37 are reserved
    CHECK_EQ(bits[0], 0x07);
    bw_space_deinit(&space);
}

static void a_space_that_covers_nothing_ends_at_its_beginning(void)
{
    const struct space space = {.geometry = &small};
    CHECK_EQ(bw_space_hwm(&space), 0);
    CHECK_EQ(bw_space_used_pages(&space), 0);
}

/* A small file may have had pages where the first region's bitmap has its places. */
static void a_place_of_a_bitmap_that_waited_is_not_given_out(void)
{
    struct space space;
    CHECK_OK(bw_space_init(&space, &small));
    CHECK_OK(bw_space_add_pending(&space, (struct page_run){.page = 20, .pages = 8, .freed = 5}));
    CHECK_EQ(take(&space, 18), 2);
    bw_space_ripen(&space, NULL, 0);
    CHECK_EQ(take(&space, 2), 20);
    CHECK_EQ(take(&space, 2), 26); // 22 to 25 are reserved
    bw_space_deinit(&space);
}

static void a_page_that_waits_needs_memory(void)
{
    const struct page_run run = {.page = 5000, .pages = 1, .freed = 5};
    for (int allowed = 0; allowed < 2; allowed++) {
        struct space space;
        CHECK_OK(bw_space_init(&space, &bw_geometry_default));
        bw_memory_fail_after(allowed); // the map, then the list
        CHECK_ERR(bw_space_add_pending(&space, run), BW_ERR_NO_MEMORY);
        bw_memory_fail_after(-1);
        CHECK_EQ(space.pending.count, 0);
        CHECK_OK(bw_space_add_pending(&space, run));
        bw_space_deinit(&space);
    }
    CHECK_EQ(bw_memory_blocks(), 0);
}

/* Whatever is asked of the space, once so many allocations succeeded. */
static bw_err work_on(struct space *space)
{
    page_no page = 0;
    bool found = false;
    bw_err err = bw_space_take(space, 3000, LIMIT, &page, &found);
    if (!err) err = bw_space_reserve_freed(space, 1);
    if (err) return err;
    bw_space_note_freed(space, 3, 1, 1);
    err = bw_space_prepare_publish(space);
    if (!err) bw_space_publish(space, 2);
    return err;
}

static void running_out_of_memory_changes_nothing(void)
{
    for (int allowed = 0;; allowed++) {
        struct space space;
        CHECK_OK(bw_space_init(&space, &bw_geometry_default));
        CHECK_EQ(take(&space, 4), 2);
        publish(&space, 1);
        bw_memory_fail_after(allowed);
        bw_err err = work_on(&space);
        bw_memory_fail_after(-1);
        if (err) {
            CHECK_EQ(err, BW_ERR_NO_MEMORY);
            bw_space_undo(&space);
            CHECK_EQ(bw_space_hwm(&space), 6);
            CHECK_EQ(bw_space_used_pages(&space), 6);
            CHECK_EQ(take(&space, 2), 6);
        }
        bw_space_deinit(&space);
        CHECK_EQ(bw_memory_blocks(), 0);
        if (!err) break;
        CHECK(allowed < 10);
    }
}

/* ---- beside a model too simple to be wrong ---- */

enum { PAGES = 300, STEPS = 4000, PINS_MAX = 4 };
enum state { IS_FREE, IS_USED, IS_FREED, IS_PENDING };

struct model {
    struct {
        enum state state;
        uint64_t born, freed;
        bool is_new; /* of the running transaction */
    } pages[PAGES], before[PAGES];
    uint64_t txn, pins[PINS_MAX];
    struct random random;
};

static bool model_take(const struct model *model, uint32_t pages, page_no *out_page)
{
    for (page_no page = 2; page + pages <= PAGES; page++) {
        uint32_t count = 0;
        while (count < pages && model->pages[page + count].state == IS_FREE &&
               !bw_space_is_reserved(&small, page + count))
            count++;
        if (count < pages) continue;
        *out_page = page;
        return true;
    }
    return false;
}

static void take_some(struct space *space, struct model *model)
{
    const uint32_t pages = (uint32_t)bw_random_below(&model->random, 11) + 1;
    page_no page = 0, wanted = 0;
    bool found = false;
    CHECK_OK(bw_space_take(space, pages, PAGES, &page, &found));
    CHECK_EQ(found, model_take(model, pages, &wanted));
    if (!found) return;
    CHECK_EQ(page, wanted);
    for (uint32_t i = 0; i < pages; i++) {
        model->pages[page + i].state = IS_USED;
        model->pages[page + i].born = model->txn;
        model->pages[page + i].is_new = true;
    }
}

static void give_up_one(struct space *space, struct model *model)
{
    const page_no page = (page_no)bw_random_below(&model->random, PAGES - 2) + 2;
    if (model->pages[page].state != IS_USED) return;
    if (model->pages[page].is_new) {
        bw_space_give_taken(space, page, 1);
        model->pages[page].state = IS_FREE;
        return;
    }
    CHECK_OK(bw_space_reserve_freed(space, 1));
    bw_space_note_freed(space, page, 1, model->pages[page].born);
    model->pages[page].state = IS_FREED;
}

static void end_transaction(struct space *space, struct model *model, bool publishes)
{
    if (publishes) {
        publish(space, model->txn);
    } else {
        bw_space_undo(space);
        memcpy(model->pages, model->before, sizeof(model->pages));
    }
    for (page_no page = 0; page < PAGES; page++) {
        model->pages[page].is_new = false;
        if (model->pages[page].state != IS_FREED) continue;
        model->pages[page].state = IS_PENDING;
        model->pages[page].freed = model->txn;
    }
    if (publishes) model->txn++;
    for (unsigned i = 1; i < PINS_MAX; i++) // readers come and go, none is ahead
        if (bw_random_percent(&model->random, 30))
            model->pins[i] = bw_random_percent(&model->random, 50) ? model->txn - 1 : 0;
    model->pins[0] = model->txn - 1;
    bw_space_ripen(space, model->pins, PINS_MAX);
    for (page_no page = 0; page < PAGES; page++) {
        if (model->pages[page].state != IS_PENDING) continue;
        bool is_seen = false;
        for (unsigned i = 0; i < PINS_MAX; i++)
            is_seen |= model->pages[page].born <= model->pins[i] &&
                       model->pins[i] < model->pages[page].freed;
        if (!is_seen) model->pages[page].state = IS_FREE;
    }
    memcpy(model->before, model->pages, sizeof(model->pages));
}

static void compare(const struct space *space, const struct model *model)
{
    uint32_t hwm = 2, count = 2;
    for (page_no page = 2; page < PAGES; page++) {
        const bool is_used = model->pages[page].state == IS_USED;
        CHECK_EQ(bw_space_is_used(space, page), is_used);
        if (is_used) hwm = page + 1;
        count += is_used;
    }
    CHECK_EQ(bw_space_hwm(space), hwm);
    CHECK_EQ(bw_space_used_pages(space), count);
}

static void random_work_agrees_with_the_model(void)
{
    static struct model model;
    struct space space;
    model = (struct model){.txn = 1};
    bw_random_seed(&model.random, bw_test_seed());
    CHECK_OK(bw_space_init(&space, &small));
    for (int step = 0; step < STEPS; step++) {
        const uint64_t choice = bw_random_below(&model.random, 20);
        if (choice < 7) take_some(&space, &model);
        else if (choice < 18) give_up_one(&space, &model);
        else end_transaction(&space, &model, choice == 18 || bw_random_percent(&model.random, 50));
        if (step % 16 == 0) compare(&space, &model);
    }
    compare(&space, &model);
    bw_space_deinit(&space);
}

RUN_TESTS(TEST(a_fresh_space_holds_the_two_slots),
          TEST(the_lowest_run_that_is_long_enough_is_taken),
          TEST(what_is_given_back_is_taken_again_at_once), TEST(a_run_ends_at_the_limit),
          TEST(no_run_crosses_a_window), TEST(places_of_bitmaps_are_never_given_out),
          TEST(longer_runs_do_not_touch_them_either), TEST(a_pin_keeps_what_it_can_see),
          TEST(one_pin_among_many_is_enough), TEST(what_is_kept_was_there_before_the_transaction),
          TEST(what_the_running_transaction_freed_is_not_given_out),
          TEST(pages_known_to_wait_are_busy_but_not_used), TEST(undo_forgets_the_transaction),
          TEST(bits_are_the_used_pages_and_the_reserved_places),
          TEST(bits_of_a_small_file_have_no_reserved_places),
          TEST(bits_from_within_a_region_may_lie_behind_its_reserved_places),
          TEST(a_space_that_covers_nothing_ends_at_its_beginning),
          TEST(a_place_of_a_bitmap_that_waited_is_not_given_out),
          TEST(a_page_that_waits_needs_memory), TEST(running_out_of_memory_changes_nothing),
          TEST(random_work_agrees_with_the_model))
