# SPDX-License-Identifier: Apache-2.0
"""Stores in a folder of the test's own, closed at its end."""

import os

import pytest

import boxwood


class Stores:
    def __init__(self, root):
        self.root = str(root)
        self.opened = []

    def __call__(self, *entities, name="db", json=None, **options):
        model = boxwood.Model()
        for entity in entities:
            model.entity(entity)
        options.setdefault("directory", os.path.join(self.root, name))
        options.setdefault("model_json_file", os.path.join(self.root, json or "model.json"))
        options.setdefault("durability", "none")
        store = boxwood.Store(model=model, **options)
        self.opened.append(store)
        return store

    def box(self, entity, **options):
        return self(entity, **options).box(entity)


@pytest.fixture
def stores(tmp_path):
    made = Stores(tmp_path)
    yield made
    for store in made.opened:
        store.close()


def make_note(**properties):
    """A fresh entity class: id, text, ts and what is given."""
    space = {"id": boxwood.Id(), "text": boxwood.String(), "ts": boxwood.Int64(), **properties}
    return boxwood.Entity(model="tests")(type("Note", (), space))


@pytest.fixture
def Note():
    return make_note()


@pytest.fixture
def box(stores, Note):
    return stores.box(Note)
