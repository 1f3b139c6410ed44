# SPDX-License-Identifier: Apache-2.0
"""Entity classes: @Entity() makes a class again, with its properties in slots of the extension."""

from boxwood import _boxwood
from boxwood.model.iduid import IdUid
from boxwood.model.properties import LONG, Property

# The classes collected by @Entity(model=...), in the order of their definition
obx_models_by_name = {}

_SYNC_ENABLED, _SHARED_GLOBAL_IDS = 2, 4
_FLAGS = "_boxwood_entity_flags"  # on a class that @SyncEntity() saw before @Entity()
_INIT_NONE, _INIT_BEFORE_VALUES, _INIT_AS_WRITTEN = range(3)  # enum in the extension


def camel_case(name):
    """date_created as dateCreated; underscores at both ends stay."""
    core = name.strip("_")
    if "_" not in core:
        return name
    begin = name[: len(name) - len(name.lstrip("_"))]
    end = name[len(name.rstrip("_")) :]
    first, *others = (part for part in core.split("_") if part)
    return begin + first + "".join(part[0].upper() + part[1:] for part in others) + end


class EntityInfo:
    """What is known of an entity beyond its class, which offers it with an underscore in front."""

    __slots__ = (
        "name",
        "given_uid",
        "iduid",
        "last_property_iduid",
        "properties",
        "id_property",
        "flags",
        "cls",
        "python_names",
    )

    def __init__(self, name, uid, properties, id_property, flags, python_names):
        self.name = name
        self.given_uid = uid
        self.iduid = IdUid(0, uid)
        self.last_property_iduid = IdUid(0, 0)
        self.properties = properties
        self.id_property = id_property
        self.flags = flags
        self.cls = None
        self.python_names = python_names

    @property
    def id(self):
        return self.iduid.id

    @property
    def uid(self):
        return self.iduid.uid

    def has_uid(self):
        return self.iduid.uid != 0

    def get_property(self, name):
        for prop in self.properties:
            if prop.name == name:
                return prop
        from boxwood.exceptions import IllegalArgumentError

        raise IllegalArgumentError('Property "%s" not found in Entity: "%s"' % (name, self.name))

    def get_property_id(self, prop):
        if isinstance(prop, int):
            return prop
        if isinstance(prop, str):
            return self.get_property(prop).id
        if isinstance(prop, Property):
            return prop.id
        raise TypeError("Expected a property (or its name or id), got %r" % (prop,))


class Object:
    """A base for entity classes that tells type checkers what they are constructed with."""

    __slots__ = ()


def info_of(cls):
    """The EntityInfo of an entity class."""
    info = _boxwood.entity_info(cls)
    if info is None:
        raise TypeError(
            "The given type is not an Entity: %r. It needs the decorator @Entity()." % (cls,)
        )
    return info


def _collect(cls):
    """The properties of a class as they were declared; those of plain base classes come first."""
    found = {}
    for base in reversed(cls.__mro__):
        if base is not cls and _boxwood.entity_info(base) is not None:
            raise TypeError(
                "Entity %s derives from entity %s; put what both have in common into a plain class"
                % (cls.__name__, base.__name__)
            )
        for name, value in list(vars(base).items()):
            if isinstance(value, Property):
                found[name] = value if base is cls else value._copy()
            elif isinstance(value, type) and issubclass(value, Property):
                found[name] = value()
            elif name in found:
                del found[name]  # a class further down made something else of it
    return found


def _describe(cls, uid, python_names):
    """The EntityInfo and the layout of a decorated class."""
    found = _collect(cls)
    name = cls.__name__
    id_property = None
    stored = {}
    for attribute, prop in found.items():
        prop.name = attribute
        prop._db_name = attribute if python_names else camel_case(attribute)
        other = stored.setdefault(prop._db_name, prop)
        if other is not prop:
            raise ValueError(
                'Properties "%s" and "%s" of entity %s would both be stored as "%s" (camelCase); '
                "rename one or use @Entity(python_names=True)"
                % (other.name, attribute, name, prop._db_name)
            )
        if prop.is_id():
            if id_property is not None:
                raise ValueError(
                    'Duplicate ID property: "%s" and "%s"' % (id_property.name, attribute)
                )
            id_property = prop
    if id_property is None:
        raise ValueError("Entity %s has no ID property (e.g. id = Id())" % name)
    if id_property._ob_type != LONG:
        raise TypeError("The ID property of entity %s must be an int" % name)
    properties = list(found.values())
    info = EntityInfo(name, uid, properties, id_property, vars(cls).get(_FLAGS, 0), python_names)
    fields = tuple((prop.name, *prop._field()) for prop in properties)
    return info, _boxwood.Layout(name, fields, properties.index(id_property), dict(found))


def _namespace(cls, found, storage):
    """The class body without the properties, and with the slots that hold their values."""
    slots = vars(cls).get("__slots__", ())
    slots = (slots,) if isinstance(slots, str) else tuple(slots)
    left_out = {"__dict__", "__weakref__", _FLAGS, *slots}
    space = {name: value for name, value in vars(cls).items() if name not in left_out}
    for name in found:
        space[name] = vars(storage)[name]
    space["__qualname__"] = cls.__qualname__
    return space


def _functions(value):
    """The functions behind a member of a class."""
    if isinstance(value, (classmethod, staticmethod)):
        value = value.__func__
    if isinstance(value, property):
        return [f for f in (value.fget, value.fset, value.fdel) if f is not None]
    while hasattr(value, "__wrapped__"):
        value = value.__wrapped__
    return [value] if hasattr(value, "__closure__") else []


def _repoint(old, new):
    """super() and __class__ in methods mean the class that was made again."""
    for value in list(vars(new).values()):
        for function in _functions(value):
            for cell in function.__closure__ or ():
                try:
                    if cell.cell_contents is old:
                        cell.cell_contents = new
                except ValueError:
                    pass  # an empty cell


def _init_mode(cls, storage):
    """Who constructs: the extension; __init__() and then the extension; __init__ alone."""
    init = cls.__init__
    if init is storage.__init__ and cls.__new__ is storage.__new__:
        return _INIT_NONE
    code = getattr(init, "__code__", None)
    if code is None:
        return _INIT_BEFORE_VALUES
    wanted = code.co_argcount - 1 - len(init.__defaults__ or ())
    wanted += code.co_kwonlyargcount - len(init.__kwdefaults__ or {})
    return _INIT_AS_WRITTEN if wanted > 0 else _INIT_BEFORE_VALUES


def _remake(cls, info, layout, init_on_read):
    storage = _boxwood.make_storage("%s.%sStorage" % (cls.__module__, cls.__name__), layout)
    meta = _boxwood.EntityMeta
    if type(cls) is not type:
        meta = type("Entity" + type(cls).__name__, (meta, type(cls)), {})
    bases = tuple(base for base in cls.__bases__ if base is not object) + (storage,)
    names = [prop.name for prop in info.properties]
    made = meta(cls.__name__, bases, _namespace(cls, names, storage))
    _repoint(cls, made)
    info.cls = made
    for prop in info.properties:
        prop._entity = made
    _boxwood.seal(made, info, storage, _init_mode(made, storage), init_on_read)
    return made


def _register(cls, model):
    classes = obx_models_by_name.setdefault(model, [])
    name = info_of(cls).name
    for at, other in enumerate(classes):
        if info_of(other).name == name:
            import logging

            logging.getLogger("boxwood").warning(
                'Model "%s" has an entity "%s" already; it is replaced', model, name
            )
            del classes[at]
            break
    classes.append(cls)
    _boxwood.forget()


def Entity(uid=0, model="default", python_names=False, init_on_read=False):
    """Make a class an entity. Its properties are declared in the body, as instances or as classes:

        @Entity()
        class Note:
            id = Id()
            text = String(index=Index())
            date_created = Date()

    uid           finds the entity again when it was renamed
    model         the name under which Store(model=...) finds the class
    python_names  store names as they are written; by default date_created is stored as dateCreated
    init_on_read  call __init__() on objects that are read

    Objects are made with keywords: Note(text="hello"). A class with an __init__ of its own keeps
    it: it is called without arguments before the keywords are set, or with all when it wants some.
    """

    def decorate(cls):
        if not isinstance(cls, type):
            raise TypeError("@Entity() is for classes, got %r" % (cls,))
        info, layout = _describe(cls, uid, python_names)
        made = _remake(cls, info, layout, init_on_read)
        _register(made, model)
        return made

    return decorate


def SyncEntity(entity=None, *, shared_global_ids=False):
    """Mark an entity as synchronised, above or below @Entity(). The mark is kept with the model;
    synchronising itself is not part of this version."""
    flags = _SYNC_ENABLED | (_SHARED_GLOBAL_IDS if shared_global_ids else 0)

    def decorate(cls):
        if not isinstance(cls, type):
            raise TypeError(
                "@SyncEntity() must be applied to an entity class (together with @Entity())"
            )
        info = _boxwood.entity_info(cls)
        if info is not None:
            info.flags |= flags
        else:
            setattr(cls, _FLAGS, vars(cls).get(_FLAGS, 0) | flags)
        return cls

    return decorate if entity is None else decorate(entity)
