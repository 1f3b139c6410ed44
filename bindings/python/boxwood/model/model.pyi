# SPDX-License-Identifier: Apache-2.0
from boxwood.model.iduid import IdUid

class Model:
    entities: list[type]
    last_entity_iduid: IdUid
    last_index_iduid: IdUid
    last_relation_iduid: IdUid
    def __init__(self) -> None: ...
    def entity(self, entity: type) -> None: ...
    def validate_ids_assigned(self) -> None: ...
