"""Parser of a YAML file into values with their line numbers: safe tags only, no duplicate keys, no endless aliases."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragstone.errors import ConfigError

MAX_FILE_BYTES = 1_000_000
MAX_VALUES = 20_000
"""More than any hand-written plan; aliases of aliases pass it within a few lines."""


@dataclass(frozen=True, slots=True)
class ConfigValue:
    """A scalar, a list of ConfigValues or a mapping of text to ConfigValues, with its location for errors."""

    location: str
    """`file:line`."""
    value: Any

    @property
    def plain(self) -> Any:
        """The same without locations: plain lists and mappings."""
        if isinstance(self.value, dict):
            return {key: item.plain for key, item in self.value.items()}
        if isinstance(self.value, list):
            return [item.plain for item in self.value]
        return self.value


def read_document(path: Path, errors: list[str]) -> ConfigValue:
    """The file's values; what is wrong with single values goes to `errors`, an unreadable file raises."""
    import yaml

    shown = str(path)
    text = _read_text(path)
    try:
        # nodes instead of `yaml.safe_load`: plain values do not know their line, and a key that
        # stands twice is lost silently
        loader = yaml.SafeLoader(text)
        root = loader.get_single_node()
        if root is None:
            return ConfigValue(f"{shown}:1", {})
        return _Builder(shown, loader, errors).build(root, root, ())
    except yaml.MarkedYAMLError as bad:
        mark = bad.problem_mark or bad.context_mark
        location = f"{shown}:{mark.line + 1}" if mark else shown
        raise ConfigError([f"{location}: {bad.problem or bad.context}; correct the YAML"]) from None
    except yaml.reader.ReaderError as bad:
        line = text.count("\n", 0, bad.position) + 1
        what = f"the control character {chr(bad.character)!r}"
        raise ConfigError([f"{shown}:{line}: {what} stands in it; remove it"]) from None
    except RecursionError:
        raise ConfigError([f"{shown}: nested too deeply; a plan has a few levels"]) from None


def _read_text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_FILE_BYTES + 1)
        if len(raw) > MAX_FILE_BYTES:
            raise ConfigError(
                [f"{path}: larger than {MAX_FILE_BYTES // 1_000_000} MB; is it a config file?"]
            )
        # -sig: editors on Windows put a byte-order mark first
        return raw.decode("utf-8-sig")
    except FileNotFoundError:
        raise ConfigError([f"there is no config file {str(path)!r}"]) from None
    except UnicodeDecodeError as bad:
        line = raw[: bad.start].count(b"\n") + 1
        raise ConfigError([f"{path}:{line}: not UTF-8 text; save it as UTF-8"]) from None
    except OSError as bad:
        raise ConfigError([f"cannot read {str(path)!r}: {bad.strerror or bad}"]) from None


class _Builder:
    """Turns YAML nodes into ConfigValues, counting them: an alias is built again each time it is used."""

    def __init__(self, shown: str, loader: Any, errors: list[str]) -> None:
        self.shown = shown
        self.loader = loader
        self.errors = errors
        self.count = 0

    def build(self, node: Any, line_node: Any, above: tuple[int, ...]) -> ConfigValue:
        """The value of a node. Errors name the line of `line_node`: the key of a mapping's entry, else the node.

        `above` are the ids of the nodes that contain it."""
        import yaml

        at = self.format_location(line_node)
        self.count += 1
        if self.count > MAX_VALUES:
            raise ConfigError([f"{at}: more than {MAX_VALUES:,} values; aliases repeat too much"])
        # aliases share the node itself, so a node among its own parents is a cycle
        if id(node) in above:
            raise ConfigError([f"{at}: an alias that contains itself; write the values out"])
        above = (*above, id(node))
        if not isinstance(node, yaml.ScalarNode) and not node.tag.endswith((":map", ":seq")):
            self.errors.append(f"{at}: a value of type {node.tag!r}; write plain YAML")
        if isinstance(node, yaml.MappingNode):
            return ConfigValue(at, self.build_mapping(node, above))
        if isinstance(node, yaml.SequenceNode):
            return ConfigValue(at, [self.build(item, item, above) for item in node.value])
        return ConfigValue(at, self.build_scalar(node, at))

    def build_mapping(self, node: Any, above: tuple[int, ...]) -> dict[str, ConfigValue]:
        import yaml

        built: dict[str, ConfigValue] = {}
        for key, item in node.value:
            at = self.format_location(key)
            name = key.value if isinstance(key, yaml.ScalarNode) else None
            if name is None:
                self.errors.append(f"{at}: a key that is not a plain word; write key: value")
            elif name in built:
                first = built[name].location.rpartition(":")[2]
                self.errors.append(
                    f"{at}: the key {name!r} stands twice (first in line {first}); keep one"
                )
            else:
                built[name] = self.build(item, key, above)
        return built

    def build_scalar(self, node: Any, at: str) -> Any:
        if node.tag == "tag:yaml.org,2002:timestamp":  # a date is only text here
            return node.value
        if not node.tag.startswith("tag:yaml.org,2002:") or ":python/" in node.tag:
            self.errors.append(f"{at}: a value of type {node.tag!r}; write plain YAML")
            return ""
        try:
            value = self.loader.construct_object(node)
        except (ValueError, KeyError):  # an explicit tag that its text does not fit
            kind = node.tag.rpartition(":")[2]
            self.errors.append(f"{at}: {node.value!r} cannot be read as {kind}")
            return ""
        if isinstance(value, float) and not math.isfinite(value):
            self.errors.append(f"{at}: {node.value!r} is not a finite number")
            return 0.0
        if not isinstance(value, str | int | float | None):
            self.errors.append(f"{at}: a value of type {node.tag.rpartition(':')[2]}; write text")
            return ""
        return value

    def format_location(self, node: Any) -> str:
        return f"{self.shown}:{node.start_mark.line + 1}"
