# SPDX-License-Identifier: Apache-2.0
"""From the model that Store(...) is given to the schema that the extension opens stores with.

The extension remembers the last answer, so this is asked when a model or its JSON file is new.
"""

import os
import sys

from boxwood import _boxwood
from boxwood._boxwood import Store
from boxwood.model.entity import info_of, obx_models_by_name
from boxwood.model.model import Model

__all__ = ["Store"]

_models = {}  # name -> (the classes that were registered, their model)
_COMPILED_MAX = 64  # programs that make classes as they go must not keep them all
_compiled = {}  # (classes, real path of the file) -> (what the file looked like, schema, ids)


def _model_for_name(name):
    entities = obx_models_by_name.get(name)
    if entities is None:
        raise ValueError(
            'Model "%s" not found; no class was decorated with @Entity(model="%s")' % (name, name)
        )
    known = _models.get(name)
    if known is not None and known[0] == entities:
        return known[1]
    model = Model()
    for entity in entities:
        model.entity(entity)
    _models[name] = (list(entities), model)
    return model


def _directory_of(module):
    file = getattr(module, "__file__", None)
    return os.path.dirname(os.path.realpath(file)) if file else None


def _default_json_file():
    """Beside the file that opens the store; else beside the program; else where we are."""
    ours = os.path.dirname(os.path.realpath(__file__))
    frame = sys._getframe(1)
    directory = None
    while frame is not None:
        directory = _directory_of(sys.modules.get(frame.f_globals.get("__name__")))
        if directory != ours:
            break
        frame = frame.f_back
    directory = directory or _directory_of(sys.modules.get("__main__"))
    return os.path.join(directory, "objectbox-model.json") if directory else "objectbox-model.json"


def _signature(path):
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _ids_of(entities):
    """All ids that classes carry, to see whether another file has changed them since."""
    return [
        (info.id, info.uid, [(p.id, p.uid, p.index and p.index.id) for p in info.properties])
        for info in map(info_of, entities)
    ]


def _synced_schema(model, path):
    """Synchronise and compile, unless the same classes met the same file before."""
    from boxwood.model.idsync import sync_model

    real = os.path.realpath(path)
    key = (tuple(model.entities), tuple(info_of(entity).flags for entity in model.entities), real)
    known = _compiled.get(key)
    if (
        known is not None
        and known[0] is not None
        and known[0] == _signature(real)
        and known[2] == _ids_of(model.entities)
    ):
        model._synced_json_file, model._synced_json_file_given = real, path
        return known[1]
    sync_model(model, path)
    schema = model._compile()
    if len(_compiled) >= _COMPILED_MAX:
        _compiled.clear()
    _compiled[key] = (_signature(real), schema, _ids_of(model.entities))
    return schema


def _all_known():
    """A model of every entity class that has ids, for stores that are opened without one."""
    model = Model()
    names = set()
    for entities in obx_models_by_name.values():
        for entity in entities:
            info = info_of(entity)
            if info.iduid and info.name not in names:
                names.add(info.name)
                model.entities.append(entity)
    return model


def resolve(model, model_json_file):
    """The schema for Store(model=..., model_json_file=...)."""
    if model is None:
        return _all_known()._compile(declare=False)
    if isinstance(model, str):
        model = _model_for_name(model)
    elif not isinstance(model, Model):
        raise TypeError("Model must be a Model object or a string.")
    path = None if model_json_file is None else os.fspath(model_json_file)
    if model._schema is not None and (
        not path
        or path == model._synced_json_file_given
        or os.path.realpath(path) == model._synced_json_file
    ):
        return model._schema
    model._schema = _synced_schema(model, path or _default_json_file())
    return model._schema


_boxwood.set_resolver(resolve)
