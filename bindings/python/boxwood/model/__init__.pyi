# SPDX-License-Identifier: Apache-2.0
from boxwood.model.entity import Entity as Entity, Object as Object, SyncEntity as SyncEntity
from boxwood.model.enums import (
    ConflictStrategy as ConflictStrategy,
    HnswFlags as HnswFlags,
    IndexType as IndexType,
    PropertyType as PropertyType,
    VectorDistanceType as VectorDistanceType,
)
from boxwood.model.iduid import IdUid as IdUid
from boxwood.model.model import Model as Model
from boxwood.model.properties import *
from boxwood.model.properties import Property as Property
