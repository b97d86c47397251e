"""JSON Schemas (draft 2020-12) of what goes in and what comes out, made from the structs that define it."""

import inspect
import types
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from clearcite.domain.answer import PublicAnswer, PublicDocument, PublicSearch
from clearcite.wire.convert import Limits, is_struct, shape
from clearcite.wire.records import REQUIRED_OF_AN_UPSERT, RecordFields
from clearcite.wire.threads import Thread

DIALECT = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]

_PLAIN = {str: "string", int: "integer", bool: "boolean", float: "number", type(None): "null"}

INPUTS: Mapping[str, type[Any]] = MappingProxyType({"source-record": RecordFields, "forum-thread": Thread})
OUTPUTS: Mapping[str, type[Any]] = MappingProxyType(
    {"answer": PublicAnswer, "search": PublicSearch, "document": PublicDocument}
)


def all_schemas() -> dict[str, Schema]:
    """By file name without extension. In an output every key is always there."""
    schemas = {name: schema_of(cls, name, is_output=False) for name, cls in INPUTS.items()}
    schemas |= {name: schema_of(cls, name, is_output=True) for name, cls in OUTPUTS.items()}
    schemas["source-record"] |= _record_conditions()
    return schemas


def schema_of(cls: type[Any], name: str, *, is_output: bool) -> Schema:
    """The schema of a struct; nested structs stand under ``$defs``."""
    definitions: dict[str, Schema] = {}
    body = _struct(cls, definitions, is_output)
    schema: Schema = {"$schema": DIALECT, "$id": f"urn:clearcite:schema:{name}", "title": name, **body}
    if definitions:
        schema["$defs"] = dict(sorted(definitions.items()))
    return schema


def _struct(cls: Any, definitions: dict[str, Schema], is_output: bool) -> Schema:
    hints, required = shape(cls)
    schema: Schema = {"type": "object"}
    if cls.__doc__:
        schema["description"] = " ".join(inspect.cleandoc(cls.__doc__).split())
    schema["properties"] = {name: _schema(hint, definitions, is_output) for name, hint in hints.items()}
    schema["required"] = list(hints) if is_output else list(required)
    schema["additionalProperties"] = False
    return schema


def _schema(hint: Any, definitions: dict[str, Schema], is_output: bool) -> Schema:
    origin = get_origin(hint)
    if hint is Any:
        return {}
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    if origin is Annotated:
        return _limited(hint, definitions, is_output)
    if origin in (Union, types.UnionType):
        return {"anyOf": [_schema(option, definitions, is_output) for option in get_args(hint)]}
    if origin is Literal:
        return {"enum": list(get_args(hint))}
    if is_struct(hint):
        name = hint.__name__
        if name not in definitions:
            definitions[name] = {}
            definitions[name] = _struct(hint, definitions, is_output)
        return {"$ref": f"#/$defs/{name}"}
    if origin in (tuple, list, Sequence):
        return _array(hint, definitions, is_output)
    if hint is dict or origin in (dict, Mapping):
        args = get_args(hint)
        inner = _schema(args[1], definitions, is_output) if len(args) == 2 else {}
        return {"type": "object", "additionalProperties": inner}
    raise TypeError(f"no JSON form is defined for {hint!r}")


def _array(hint: Any, definitions: dict[str, Schema], is_output: bool) -> Schema:
    args = get_args(hint)
    if get_origin(hint) is tuple and args[-1] is not Ellipsis:
        items = [_schema(arg, definitions, is_output) for arg in args]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    return {"type": "array", "items": _schema(args[0], definitions, is_output)}


def _limited(hint: Any, definitions: dict[str, Schema], is_output: bool) -> Schema:
    inner, *extras = get_args(hint)
    schema = _schema(inner, definitions, is_output)
    least, most = {
        "integer": ("minimum", "maximum"),
        "string": ("minLength", "maxLength"),
        "array": ("minItems", "maxItems"),
    }[schema["type"]]
    for limits in extras:
        if not isinstance(limits, Limits):
            continue
        if limits.least is not None:
            schema[least] = limits.least
        if limits.most is not None:
            schema[most] = limits.most
        if limits.unique:
            schema["uniqueItems"] = True
    return schema


def _record_conditions() -> Schema:
    """What depends on the operation: a delete needs a reason; an upsert its metadata and one content."""
    upsert: Schema = {
        "required": list(REQUIRED_OF_AN_UPSERT),
        "properties": {"allowed_groups": {"minItems": 1}},
        "oneOf": [{"required": ["content"]}, {"required": ["content_path"]}],
    }
    return {
        "if": {"properties": {"operation": {"const": "delete"}}, "required": ["operation"]},
        "then": {"required": ["reason"]},
        "else": upsert,
    }
