"""Scenarios as text: what a dictionary is in TOML."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def literal(value: Any) -> str:
    """A value as it stands in a scenario."""
    value = value.item() if hasattr(value, "item") else value  # a number of numpy's
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, Path)):
        return _quoted(str(value))
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {literal(of)}" for key, of in value.items()) + " }"
    if isinstance(value, Sequence):
        return "[" + ", ".join(map(literal, value)) + "]"
    raise TypeError(f"{value!r} cannot stand in a scenario")


def document(scenario: Mapping[str, Any]) -> str:
    """A scenario as a text of TOML, with a section for each table."""
    return "\n".join([*_lines((), scenario), ""])


def _lines(path: tuple[str, ...], table: Mapping[str, Any]) -> Iterator[str]:
    # What stands behind the name of a section belongs to it, so sections come last.
    sections = {key: value for key, value in table.items() if _is_section(value)}
    yield from (f"{_key(key)} = {literal(value)}" for key, value in table.items() if key not in sections)
    for key, value in sections.items():
        below = (*path, _key(key))
        brackets = "[%s]" if isinstance(value, Mapping) else "[[%s]]"
        for each in [value] if isinstance(value, Mapping) else value:
            yield from ("", brackets % ".".join(below), *_lines(below, each))


def _is_section(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return len(value) > 0 and all(isinstance(each, Mapping) for each in value)
    return isinstance(value, Mapping)


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _quoted(key)


def _quoted(text: str) -> str:
    """A text in quotation marks. Characters beyond U+FFFF stand as they are, as JSON has pairs for them that are not TOML;
    TOML wants DEL escaped, and JSON does not."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def overrides(given: Mapping[str, Any] | Sequence[str], more: Mapping[str, Any]) -> list[str]:
    """What is laid over a scenario, as `path=value`. In names of arguments two underlines stand for a dot; texts may be
    written as they are."""
    given = [given] if isinstance(given, str) else given
    named = {name.replace("__", "."): value for name, value in more.items()}
    if isinstance(given, Mapping):
        return [_override(path, value) for path, value in {**given, **named}.items()]
    return [*given, *(_override(path, value) for path, value in named.items())]


def _override(path: str, value: Any) -> str:
    return f"{path}={value if isinstance(value, str) else literal(value)}"


def axes(over: Mapping[str, Any] | Sequence[str]) -> list[str]:
    """What is varied, as `path=values`: lists, or texts such as `0.1..0.9/0.1`."""
    if not isinstance(over, Mapping):
        return [over] if isinstance(over, str) else list(over)
    word = lambda value: value if isinstance(value, str) else literal(value)  # noqa: E731
    return [f"{path}={word(of) if isinstance(of, str) else ','.join(map(word, of))}" for path, of in over.items()]
