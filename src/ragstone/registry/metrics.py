"""The registry of metrics: declaration, lookup by spec, binding of options, and the printed name."""

from __future__ import annotations

import inspect
import json
import types as pytypes
import typing
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar, overload

from ragstone.errors import UnknownMetric, suggest_nearest
from ragstone.registry.aliases import find_alias, warn_of_alias
from ragstone.registry.plugins import load_object
from ragstone.registry.specs import CONSTANTS, parse_spec
from ragstone.types import SAMPLE_FIELDS

F = TypeVar("F", bound=Callable[..., Any])
Check = Callable[[Mapping[str, Any]], str | None]


@dataclass(frozen=True, slots=True)
class Metric:
    """A registered function with bound options; prints as its spec: `recall@5`."""

    name: str
    """Its spec: name, cut-off and the options that differ from their defaults."""
    function: Callable[..., Any]
    family: str
    """The registered name, without cut-off and options."""
    takes: tuple[str, ...] = ()
    """Sample fields passed positionally, in order."""
    needs: tuple[str, ...] = ()
    """Those of `takes` that must not be None."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Every keyword-only option with its value."""
    higher_is_better: bool = True
    bounds: tuple[float, float] | None = (0.0, 1.0)
    """Lowest and highest possible value; None when it has no fixed range."""
    binary: bool = False
    """Whether every value is 0 or 1."""
    judged: bool = False
    """Whether it asks a judge: calling the function then returns a generator."""
    judged_with: Mapping[str, Any] | None = None
    """Option values with which a plain function returns a generator; None for generator functions and others."""
    extra: str | None = None
    """The optional dependency group it needs."""
    labels: tuple[str, ...] = ()
    """The categories into which it sorts samples, if any."""
    label: str | None = None
    """The option that names the metric, if any: `rubric(name=tone)` prints without its other options."""
    check: Check | None = None
    """Validates option values that have the right types; returns what is wrong, or None."""

    def __str__(self) -> str:
        return self.name

    @property
    def meaning(self) -> str:
        """The first paragraph of its docstring, on one line."""
        text = (inspect.getdoc(self.function) or "").split("\n\n")[0]
        return " ".join(text.split())


REGISTERED: dict[str, Metric] = {}
"""Every metric by its family name, with its default options."""


@overload
def metric(function: F) -> F: ...
@overload
def metric(
    *,
    name: str | None = ...,
    higher_is_better: bool = ...,
    bounds: tuple[float, float] | None = ...,
    binary: bool = ...,
    extra: str | None = ...,
    labels: Sequence[str] = ...,
    judged_with: Mapping[str, Any] | None = ...,
    label: str | None = ...,
    check: Check | None = ...,
) -> Callable[[F], F]: ...
def metric(
    function: F | None = None,
    *,
    name: str | None = None,
    higher_is_better: bool = True,
    bounds: tuple[float, float] | None = (0.0, 1.0),
    binary: bool = False,
    extra: str | None = None,
    labels: Sequence[str] = (),
    judged_with: Mapping[str, Any] | None = None,
    label: str | None = None,
    check: Check | None = None,
) -> F | Callable[[F], F]:
    """Register a function: its positional parameters are the Sample fields it needs, keyword-only ones its options."""

    def register(target: F) -> F:
        takes, needs, options = _inspect_signature(target)
        family = name or target.__name__
        # the same function may register again: notebooks run cells twice, and workers import
        # modules that the driver had
        earlier = REGISTERED.get(family)
        if earlier is not None and _build_qualified_name(earlier.function) != _build_qualified_name(
            target
        ):
            raise UnknownMetric(
                f"two metrics are called {family!r}, in {_build_qualified_name(earlier.function)} and in "
                f"{_build_qualified_name(target)}; give one another name: @metric(name=...)"
            )
        REGISTERED[family] = Metric(
            name=family,
            function=target,
            family=family,
            takes=takes,
            needs=needs,
            options=options,
            higher_is_better=higher_is_better,
            bounds=bounds,
            binary=binary,
            judged=_is_judged(target, judged_with, options),
            judged_with=judged_with,
            extra=extra,
            labels=tuple(labels),
            label=label,
            check=check,
        )
        return target

    return register(function) if function is not None else register


MetricSpec = str | Mapping[str, Any] | Callable[..., Any] | Metric
"""A metric as users name one: `recall@5`, `{exact_match: {normalize: squad}}`, a function, a Metric."""


def resolve(spec: MetricSpec) -> Metric:
    """Return the metric of a spec, with its options bound."""
    if isinstance(spec, Metric):
        return spec
    if isinstance(spec, str):
        family, options = parse_spec(spec)
        return bind_options(_find_family(family), options)
    if isinstance(spec, Mapping):
        if len(spec) != 1:
            raise UnknownMetric(
                f"{dict(spec)!r} does not name one metric; write {{name: {{option: value}}}}"
            )
        (text, values), *_ = spec.items()
        family, options = parse_spec(str(text))
        if values is not None and not isinstance(values, Mapping):
            raise UnknownMetric(f"the options of {text!r} are {values!r}; write {{option: value}}")
        return bind_options(_find_family(family), {**options, **(values or {})})
    return _from_function(spec)


def bind_options(base: Metric, values: Mapping[str, Any]) -> Metric:
    """Return the metric with these options, checked against its signature."""
    defaults = REGISTERED.get(base.family, base).options
    hints = _get_hints(base.function)
    options = dict(base.options)
    for key, value in values.items():
        if key not in options:
            option = "cut-off @k" if key == "k" else f"option {key!r}"
            raise UnknownMetric(
                f"{base.family!r} has no {option}{suggest_nearest(key, list(options))}"
            )
        try:
            options[key] = _coerce_value(value, hints.get(key, Any))
        except ValueError as error:
            raise UnknownMetric(f"{base.family!r}: {key} is {value!r}; {error}") from None
        if key == "k" and options[key] is not None and options[key] < 1:
            raise UnknownMetric(f"{base.family}@{value}: the cut-off starts at 1")
    problem = base.check(options) if base.check else None
    if problem:
        raise UnknownMetric(f"{base.family!r}: {problem}")
    named_options = options
    # a rubric is known by its name; its long text would make the column unreadable
    if base.label and options[base.label] != defaults.get(base.label):
        named_options = {base.label: options[base.label]}
    return replace(
        base,
        name=_format_name(base.family, named_options, defaults),
        options=options,
        judged=_is_judged(base.function, base.judged_with, options),
    )


def describe_options(base: Metric) -> dict[str, str]:
    """Describe the accepted values of each option of a metric."""
    hints = _get_hints(base.function)
    return {option: _describe_hint(hints.get(option, Any)) for option in base.options}


def _find_family(family: str) -> Metric:
    if family in REGISTERED:
        return REGISTERED[family]
    if ":" in family or "." in family:
        return _from_function(load_object(family, "metric"))
    alias = find_alias(family)
    if alias is not None:
        warn_of_alias(alias)
        return resolve(alias.spec)
    raise UnknownMetric(f"no metric {family!r}{suggest_nearest(family, list(REGISTERED))}")


def _from_function(target: Any) -> Metric:
    if not callable(target):
        raise UnknownMetric(f"{target!r} is not a metric; give a name or a function")
    for registered in REGISTERED.values():
        if registered.function is target:
            return registered
    metric(target)
    return REGISTERED[target.__name__]


def _is_judged(
    function: Callable[..., Any], judged_with: Mapping[str, Any] | None, options: Mapping[str, Any]
) -> bool:
    """Whether calling the function with these options returns a generator that asks a judge."""
    if judged_with is None:
        return inspect.isgeneratorfunction(function)
    return all(options.get(key) == value for key, value in judged_with.items())


def _build_qualified_name(function: Callable[..., Any]) -> str:
    """Where its code stands: `functools.wraps` gives a function the module and name of the one that it wraps."""
    code = getattr(function, "__code__", None)
    if code is None:
        return f"{function.__module__}:{function.__qualname__}"
    return f"{function.__globals__['__name__']}:{code.co_qualname}"


def _inspect_signature(
    function: Callable[..., Any],
) -> tuple[tuple[str, ...], tuple[str, ...], dict[str, Any]]:
    """What `Metric` calls `takes`, `needs` and `options`."""
    takes, needs, options = [], [], {}
    hints = _get_hints(function)
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY:
            if parameter.default is parameter.empty:
                raise UnknownMetric(
                    f"option {parameter.name!r} of {_build_qualified_name(function)} has no default; give it one"
                )
            options[parameter.name] = parameter.default
            continue
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise UnknownMetric(
                f"{_build_qualified_name(function)} takes {parameter}; name the Sample fields"
            )
        if parameter.name not in (*SAMPLE_FIELDS, "sample"):
            raise UnknownMetric(
                f"{_build_qualified_name(function)} asks for {parameter.name!r}, which is not a field of a Sample"
                f"{suggest_nearest(parameter.name, [*SAMPLE_FIELDS, 'sample'])} (options go after a bare *)"
            )
        takes.append(parameter.name)
        # these are never None
        always = parameter.name in ("id", "meta", "sample")
        if not always and not _allows_none(hints.get(parameter.name)):
            needs.append(parameter.name)
    return tuple(takes), tuple(needs), options


def _get_hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function)
    except (NameError, TypeError):  # a user's annotation that cannot be evaluated is ignored
        return {}


def _allows_none(hint: Any) -> bool:
    return type(None) in typing.get_args(hint) if _is_union(hint) else False


def _is_union(hint: Any) -> bool:
    return typing.get_origin(hint) in (typing.Union, pytypes.UnionType)


def _coerce_value(value: Any, hint: Any) -> Any:
    """Convert a value to the annotated type; ValueError says what would fit."""
    # issubclass needs a class: `object` stands for a plain type, which is no Sequence or Mapping
    origin, inner = typing.get_origin(hint) or object, typing.get_args(hint)
    if _is_union(hint):
        for member in inner:
            with suppress(ValueError):
                return _coerce_value(value, member)
    elif origin is Literal:
        return _coerce_choice(value, hint)
    elif issubclass(origin, Sequence):
        if isinstance(value, list | tuple):
            return tuple(_coerce_value(item, inner[0]) for item in value)
    elif issubclass(origin, Mapping):
        if isinstance(value, Mapping):
            return {
                _coerce_value(k, inner[0]): _coerce_value(v, inner[1]) for k, v in value.items()
            }
    elif _fits_scalar(value, hint):
        return float(value) if hint is float else value
    raise ValueError(f"give {_describe_hint(hint)}")


def _coerce_choice(value: Any, hint: Any) -> Any:
    choices = typing.get_args(hint)
    if value is None and "none" in choices:
        return "none"  # a spec parses the bare word none, as in normalize=none, as None
    # True == 1, but it is not one of the choices 0, 1 and 2
    if value in choices and type(value) in {type(choice) for choice in choices}:
        return value
    raise ValueError(f"give {_describe_hint(hint)}")


def _fits_scalar(value: Any, hint: Any) -> bool:
    """Whether the value has a scalar type; an annotation that is not known here accepts everything."""
    if hint in (None, type(None)):
        return value is None
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return type(value) is hint if hint in (int, str, bool) else True


def _describe_hint(hint: Any) -> str:
    """Describe the values that an annotation accepts."""
    if hint is Any:
        return "anything"
    words = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}
    if hint in words:
        return words[hint]
    if hint in (None, type(None)):
        return "none"
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is Literal:
        return " or ".join(str(choice) for choice in inner)
    if _is_union(hint):
        return " or ".join(_describe_hint(member) for member in inner)
    return "a list" if origin and not issubclass(origin, Mapping) else "a mapping"


def _format_name(family: str, options: Mapping[str, Any], defaults: Mapping[str, Any]) -> str:
    cutoff = f"@{options['k']}" if options.get("k") is not None else ""
    changed = [
        f"{key}={_format_value(value)}"
        for key, value in options.items()
        if key != "k" and value != defaults.get(key)
    ]
    return f"{family}{cutoff}" + (f"({', '.join(changed)})" if changed else "")


def _format_value(value: Any) -> str:
    if isinstance(value, str) and value.isidentifier() and value.lower() not in CONSTANTS:
        return value
    if isinstance(value, tuple):
        value = list(value)
    return json.dumps(value, ensure_ascii=False)
