# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable
from typing import Any, TypeVar, overload

from boxwood.model.iduid import IdUid
from boxwood.model.properties import Property

E = TypeVar("E")

obx_models_by_name: dict[str, list[type]]

def camel_case(name: str) -> str: ...

class EntityInfo:
    name: str
    given_uid: int
    iduid: IdUid
    last_property_iduid: IdUid
    properties: list[Property[Any]]
    id_property: Property[Any]
    flags: int
    cls: type
    python_names: bool
    @property
    def id(self) -> int: ...
    @property
    def uid(self) -> int: ...
    def has_uid(self) -> bool: ...
    def get_property(self, name: str) -> Property[Any]: ...
    def get_property_id(self, prop: int | str | Property[Any]) -> int: ...

class Object:
    def __init__(self, **values: Any) -> None: ...

def info_of(cls: type) -> EntityInfo: ...
def Entity(
    uid: int = 0,
    model: str = "default",
    python_names: bool = False,
    init_on_read: bool = False,
) -> Callable[[type[E]], type[E]]: ...
@overload
def SyncEntity(entity: type[E]) -> type[E]: ...
@overload
def SyncEntity(
    entity: None = None, *, shared_global_ids: bool = False
) -> Callable[[type[E]], type[E]]: ...
