"""Symptoms, causes and advice as data: a file of this package, which files of the user add to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ragstone.analysis.classes import CLASSES
from ragstone.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Condition:
    """A metric's mean or a class's share on one side of a limit."""

    kind: Literal["metric", "class"]
    name: str
    limit: float
    above: bool

    def is_met_by(self, value: float) -> bool:
        """Whether a value is on that side."""
        return value > self.limit if self.above else value < self.limit


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a symptom may show, what to do then, and the settings that would test it."""

    cause: Mapping[str, str]
    advice: Mapping[str, str]
    settings: Mapping[str, tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Symptom:
    """A way in which runs are bad, with its causes; texts by language."""

    name: str
    title: Mapping[str, str]
    conditions: tuple[Condition, ...]
    every: bool
    """Whether all conditions must hold, or one of them."""
    causes: tuple[Cause, ...]


def load_symptoms(more: Sequence[tuple[str, str]] = ()) -> tuple[Symptom, ...]:
    """The symptoms of this package and of the user's texts, each with its place; a later one of the same name replaces the earlier."""
    from importlib.resources import files

    symptoms = {}
    packaged = files("ragstone.analysis").joinpath("advice.yaml").read_text(encoding="utf-8")
    # the user's files last, so that they replace our symptoms of the same name
    for text, place in [(packaged, "advice.yaml"), *more]:
        for symptom in parse_symptoms(text, place):
            symptoms[symptom.name] = symptom
    return tuple(symptoms.values())


def parse_symptoms(text: str, place: str) -> list[Symptom]:
    """The symptoms that a YAML text lists; all errors are raised at once. `place` names the text in them."""
    import yaml

    try:
        items = yaml.safe_load(text)
    except yaml.YAMLError as broken:
        raise ConfigError([f"{place}: not YAML: {' '.join(str(broken).split())}"]) from None
    if not isinstance(items, list):
        raise ConfigError(
            [f"{place}: a list of symptoms is wanted; start each with `- symptom: NAME`"]
        )
    errors: list[str] = []
    symptoms = []
    for number, item in enumerate(items, 1):
        where = f"{place}: symptom {number}"
        if not isinstance(item, Mapping) or not isinstance(item.get("symptom"), str):
            errors.append(f"{where} has no name; start it with `- symptom: NAME`")
            continue
        where = f"{place}: {item['symptom']}"
        conditions, every = _parse_conditions(item.get("when"), where, errors)
        causes = [_parse_cause(cause, where, errors) for cause in item.get("causes") or ()]
        if not causes:
            errors.append(f"{where}: no causes; list at least one with `cause` and `advice`")
        title = _parse_texts(item.get("title", item["symptom"]), f"{where}: title", errors)
        symptoms.append(Symptom(item["symptom"], title, conditions, every, tuple(causes)))
    if errors:
        raise ConfigError(errors)
    return symptoms


def _parse_conditions(
    when: Any, where: str, errors: list[str]
) -> tuple[tuple[Condition, ...], bool]:
    every = True
    if isinstance(when, Mapping) and len(when) == 1 and next(iter(when)) in ("any", "all"):
        every = "all" in when
        (when,) = when.values()
    if not isinstance(when, list) or not when:
        errors.append(f"{where}: `when` is a list of conditions, or `any:` or `all:` with one")
        return (), every
    conditions = [_parse_condition(condition, where, errors) for condition in when]
    return tuple(condition for condition in conditions if condition is not None), every


def _parse_condition(item: Any, where: str, errors: list[str]) -> Condition | None:
    given = dict(item) if isinstance(item, Mapping) else {}
    kinds = [kind for kind in ("metric", "class") if kind in given]
    sides = [side for side in ("below", "above") if side in given]
    limit = given.get(sides[0]) if len(sides) == 1 else None
    if len(kinds) != 1 or isinstance(limit, bool) or not isinstance(limit, int | float):
        errors.append(
            f"{where}: {item!r} is no condition; write {{metric: recall, below: 0.8}} or "
            "{class: hallucination, above: 0.1}"
        )
        return None
    name = str(given[kinds[0]])
    if kinds == ["class"]:
        if name not in CLASSES:
            errors.append(f"{where}: no failure class {name!r}; known: {', '.join(CLASSES)}")
            return None
        return Condition("class", name, float(limit), sides == ["above"])
    return Condition("metric", name, float(limit), sides == ["above"])


def _parse_cause(item: Any, where: str, errors: list[str]) -> Cause:
    given = dict(item) if isinstance(item, Mapping) else {}
    if "cause" not in given or "advice" not in given:
        errors.append(f"{where}: a cause has `cause` and `advice`, {item!r} does not")
    settings = given.get("try") or {}
    if not isinstance(settings, Mapping) or not all(isinstance(v, list) for v in settings.values()):
        errors.append(f"{where}: `try` maps a parameter to a list of values, not {settings!r}")
        settings = {}
    return Cause(
        _parse_texts(given.get("cause", ""), where, errors),
        _parse_texts(given.get("advice", ""), where, errors),
        {str(name): tuple(values) for name, values in settings.items()},
    )


def _parse_texts(item: Any, where: str, errors: list[str]) -> Mapping[str, str]:
    """A text by language; a plain text serves for all."""
    if isinstance(item, str):
        return {"en": item}
    if isinstance(item, Mapping) and item and all(isinstance(v, str) for v in item.values()):
        return {str(key): value for key, value in item.items()}
    errors.append(f"{where}: a text, or one a language such as {{en: …, es: …}}, not {item!r}")
    return {"en": ""}


def choose_text(texts: Mapping[str, str], language: str) -> str:
    """The text in a language, else in English, else in whichever there is."""
    return texts.get(language) or texts.get("en") or next(iter(texts.values()), "")
