# SPDX-License-Identifier: Apache-2.0
"""Transactions: nesting, undoing, waiting, threads and tasks."""

import asyncio
import contextvars
import signal
import threading

import pytest

import boxwood
from boxwood import *

from conftest import make_note


def test_commit_and_undo(box, Note):
    with box.store.write_tx():
        box.put(Note(text="a"))
        box.put([Note(text="b"), Note(text="c")])
        assert box.count() == 3 and [o.text for o in box.get_all()] == ["a", "b", "c"]
    with pytest.raises(ZeroDivisionError):
        with box.store.write_tx():
            box.remove(1)
            box.put(Note(id=2, text="changed"))
            assert box.query().build().count() == 2
            1 / 0
    assert [o.text for o in box.get_all()] == ["a", "b", "c"]


def test_ids_given_in_an_undone_transaction_can_be_put_again(box, Note):
    note = Note(text="a")
    with pytest.raises(ValueError):
        with box.store.write_tx():
            box.put(note)
            raise ValueError
    assert note.id == 1 and box.is_empty()
    assert box.put(note) == 1 and box.get(1).text == "a"


def test_nesting_joins(box, Note):
    store = box.store
    with store.write_tx():
        box.put(Note())
        with store.write_tx():
            box.put(Note())
            with store.read_tx():
                assert box.count() == 2
                box.put(Note())
        with store.read_tx():
            assert box.count() == 3
    assert box.count() == 3
    with store.read_tx():
        with store.read_tx():
            assert box.count() == 3


def test_a_failed_inner_transaction_dooms_the_outer(box, Note):
    store = box.store
    with pytest.raises(IllegalStateError, match="one inside it failed"):
        with store.write_tx():
            box.put(Note())
            with pytest.raises(ValueError):
                with store.write_tx():
                    box.put(Note())
                    raise ValueError
            with pytest.raises(IllegalStateError, match="one inside it failed"):
                box.put(Note())
    assert box.is_empty()
    assert box.put(Note()) > 0


def test_a_failed_put_leaves_the_transaction_usable(box, Note):
    with box.store.write_tx():
        box.put(Note(text="a"))
        with pytest.raises(IllegalArgumentError):
            box.put([Note(text="b"), Note(id=99)])
        with pytest.raises(TypeError):
            box.put([Note(text="c"), 5])
        box.put(Note(text="d"))
    assert [o.text for o in box.get_all()] == ["a", "d"]


def test_a_large_put_in_a_transaction(box, Note):
    notes = [Note(text="x" * 1000) for _ in range(20_000)]
    with box.store.write_tx():
        box.put(Note(text="first"))
        with pytest.raises(boxwood.exceptions.ValueTypeError):
            box.put(notes + [Note(ts="wrong")])
        assert box.count() == 1
        box.put(notes)
    assert box.count() == 20_001


def test_write_inside_read(box, Note):
    store = box.store
    box.put(Note())
    with store.read_tx():
        for write in (
            lambda: box.put(Note()),
            lambda: box.remove(1),
            box.remove_all,
            store.write_tx().__enter__,
        ):
            with pytest.raises(IllegalStateError) as error:
                write()
            assert error.value.message.startswith(
                "Cannot start a write transaction inside a read only transaction"
            )
        assert box.count() == 1
    box.put(Note())


def test_a_read_transaction_keeps_its_state(box, Note):
    box.put(Note(text="1"))
    with box.store.read_tx():
        thread = threading.Thread(target=lambda: box.put(Note(text="2")))
        thread.start()
        thread.join()
        assert (
            [o.text for o in box.get_all()] == ["1"] and box.get(2) is None and not box.contains(2)
        )
        assert box.get_many([1, 2])[1] is None and box.query().build().find_ids() == [1]
    assert box.count() == 2


def test_a_transaction_serves_one_with_statement(box):
    txn = box.store.write_tx()
    with txn:
        with pytest.raises(IllegalStateError):
            txn.__enter__()
    with pytest.raises(RuntimeError):
        txn.__enter__()
    with pytest.raises(RuntimeError):
        txn.__exit__(None, None, None)


def test_an_abandoned_transaction_ends_with_its_object(box, Note):
    contextvars.copy_context().run(lambda: box.store.write_tx().__enter__())
    assert box.put(Note()) > 0


def test_closing_inside_a_transaction(box, Note):
    with box.store.write_tx():
        box.put(Note())
        with pytest.raises(IllegalStateError, match="transaction"):
            box.store.close()
        assert not box.store.is_closed()
    assert box.count() == 1
    box.store.close()


def test_transactions_of_two_stores(stores, Note):
    first, second = stores.box(Note), stores.box(Note, name="second")
    with first.store.write_tx():
        first.put(Note())
        with pytest.raises(ValueError):
            with second.store.write_tx():
                second.put(Note())
                first.put(Note())
                raise ValueError
        with second.store.read_tx():
            first.put(Note())
            with pytest.raises(IllegalStateError, match="read only"):
                second.put(Note())
    assert (first.count(), second.count()) == (3, 0)


def test_another_thread_waits_and_goes_on(box, Note):
    store = box.store
    began, done = threading.Event(), []

    def work():
        began.set()
        box.put(Note(text="second"))
        done.append(1)

    thread = threading.Thread(target=work)
    with store.write_tx():
        thread.start()
        began.wait()
        box.put(Note(text="first"))
        assert not done
    thread.join()
    assert [o.text for o in box.get_all()] == ["first", "second"]


def test_waiting_ends_and_names_the_place(stores, Note):
    box = stores.box(Note, write_timeout=0.05)
    errors = []

    def work():
        for write in (lambda: box.put(Note()), box.store.write_tx().__enter__):
            try:
                write()
            except Exception as error:
                errors.append(error)

    with box.store.write_tx():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert len(errors) == 2
    for error in errors:
        assert isinstance(error, TimeoutError) and isinstance(
            error, boxwood.exceptions.TimeoutError
        )
        assert error.code == 1002 and "test_txn.py, line" in str(error)


def test_a_thread_does_not_wait_for_itself(box, Note):
    with box.store.write_tx():
        with pytest.raises(IllegalStateError, match="test_txn.py, line"):
            contextvars.Context().run(lambda: box.put(Note()))
        box.put(Note())
    assert box.count() == 1


def test_a_transaction_may_end_in_another_thread(box, Note):
    txn = box.store.write_tx()
    txn.__enter__()
    box.put(Note())
    thread = threading.Thread(target=lambda: txn.__exit__(None, None, None))
    thread.start()
    thread.join()
    assert box.count() == 1 and box.put(Note()) == 2


def test_tasks_have_their_own(box, Note):
    store = box.store

    async def child():
        with pytest.raises(IllegalStateError, match="another task"):
            box.put(Note(text="child"))
        return box.count()

    async def main():
        with store.write_tx():
            box.put(Note(text="a"))
            await asyncio.sleep(0)
            box.put(Note(text="b"))
            assert box.count() == 2
            # A task begun inside inherits the context but not the transaction.
            assert await asyncio.create_task(child()) == 0
            # Work handed to a thread belongs to the task that waits for it.
            await asyncio.to_thread(lambda: box.put(Note(text="c")))
        assert await asyncio.gather(*(put(i) for i in range(10)))
        return [o.text for o in box.get_all()]

    async def put(i):
        with store.write_tx():
            return box.put(Note(text=str(i)))

    assert asyncio.run(main()) == ["a", "b", "c"] + [str(i) for i in range(10)]


def test_functions_of_the_transaction_module(box, Note):
    from boxwood.transaction import read, write

    with write(box.store):
        box.put(Note())
    with read(box.store):
        assert box.count() == 1


def test_a_loop_inside_a_with_statement_belongs_to_it(box, Note):
    async def work():
        box.put(Note())
        return box.count()

    with box.store.write_tx():
        assert asyncio.run(work()) == 1


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers by signals")
def test_waiting_can_be_interrupted(box, Note):
    class Alarm(Exception):
        pass

    def ring(number, frame):
        raise Alarm

    began, go_on = threading.Event(), threading.Event()

    def hold():
        with box.store.write_tx():
            began.set()
            go_on.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    began.wait()
    old = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        with pytest.raises(Alarm):
            box.put(Note())
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
        go_on.set()
        thread.join()
    assert box.put(Note()) == 1
