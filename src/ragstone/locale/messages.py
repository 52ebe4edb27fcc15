"""Messages: English sentences that remember their code and arguments, so that a report can translate them.

Every sentence of this package that travels with a score (a reason, a warning, a judge's explanation, a gate's result) is a
Message. Text by a judge, a system or a user is a plain string: it is shown as it is in every language."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, TypeAlias

from ragstone.locale.catalogue import LANGUAGES, fill_phrase, find_phrase, load_phrases

Argument: TypeAlias = "str | float | bool | tuple[Argument, ...] | None"
"""What a placeholder is filled with; a tuple is a list, whose separator is the format: `{names:; }`, else a comma."""

FILE = "messages"
"""The file of the catalogue that holds the messages."""

REPORT_LISTS = ("outcome", "verdict")
"""Arguments whose values are translated in report.toml (`outcome.ok`); those of all other arguments in messages.toml."""

CUSTOM = "custom"
"""The code of a text that is not from the catalogue."""


class Message(str):
    """A sentence with the code and arguments it was composed from; as a string it is that sentence in `language`."""

    __slots__ = ("arguments", "code", "language")
    code: str
    arguments: Mapping[str, Argument]
    language: str
    """The language of the string itself: English, except where a judge explains itself in the language of a claim."""

    # immutable, so a copy is the object itself
    def __copy__(self) -> Message:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Message:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # the default for a str would lose code and arguments
        return message_from_json, (message_to_json(self),)


# typed, because 1 and 1.0 are shown differently
@lru_cache(maxsize=512, typed=True)
def compose(code: str, language: str = LANGUAGES[0], /, **arguments: Argument) -> Message:
    """The message of that code; the same code and arguments give the same object.

    A code that the catalogue lacks, as a store of a later version may hold, is shown with its arguments."""
    language = language if language in LANGUAGES else LANGUAGES[0]
    return _make_message(_fill_sentence(code, arguments, language), code, arguments, language)


def _make_message(
    text: str, code: str, arguments: Mapping[str, Argument], language: str
) -> Message:
    message = Message(text)
    message.code = code
    message.arguments = MappingProxyType(dict(arguments))
    message.language = language
    return message


def compose_or_quote(text: str, arguments: Mapping[str, Argument]) -> str:
    """The message when `text` is a code of the catalogue, else the text itself, written by a judge, system or user."""
    if isinstance(text, Message) or text not in load_phrases(LANGUAGES[0], FILE):
        return text
    return compose(text, **arguments)


def render(text: str, language: str) -> str:
    """A message in the given language, with the messages inside it; any other text as it is."""
    if not isinstance(text, Message):
        return text
    inner = {name: _render_argument(value, language) for name, value in text.arguments.items()}
    return _fill_sentence(text.code, inner, language)


def _render_argument(value: Argument, language: str) -> Argument:
    if isinstance(value, tuple):
        return tuple(_render_argument(item, language) for item in value)
    if isinstance(value, float):
        return LocalFloat(value, load_phrases(language, "report")["decimal"])
    return render(value, language) if isinstance(value, Message) else value


def code_of(text: str) -> str:
    """The code of a message, `custom` for any other text, nothing for none."""
    return text.code if isinstance(text, Message) else CUSTOM if text else ""


def arguments_of(text: str) -> Mapping[str, Argument]:
    """The arguments of a message; of any other text, the text as the argument `text`."""
    return text.arguments if isinstance(text, Message) else {"text": text} if text else {}


def message_to_json(text: str) -> Any:
    """A message as `{"code": …, argument: …}`, to be stored; any other text as a string."""
    if not isinstance(text, Message):
        return text
    item: dict[str, Any] = {"code": text.code}
    if text.language != LANGUAGES[0]:
        item["in"] = text.language  # so no message may have an argument named `code` or `in`
    for name, value in text.arguments.items():
        item[name] = _argument_to_json(value)
    return item


def message_from_json(item: Any) -> str:
    """The text that `message_to_json` wrote."""
    # exact types, not isinstance: faster, and what json.loads returns is never a subclass.
    # A str that is a Message cannot occur here: message_to_json turns it into a dict.
    if item.__class__ is str:
        return item
    arguments = {
        name: _argument_from_json(value) if value.__class__ in (dict, list) else value
        for name, value in item.items()
    }
    return compose(arguments.pop("code"), arguments.pop("in", LANGUAGES[0]), **arguments)


def clip(text: str, chars: int) -> str:
    """The text with at most that many characters; a clipped message keeps its code and arguments."""
    if len(text) <= chars:
        return text
    if not isinstance(text, Message):
        return text[:chars]
    return _make_message(text[:chars], text.code, text.arguments, text.language)


def _fill_sentence(code: str, arguments: Mapping[str, Argument], language: str) -> str:
    phrases = load_phrases(language, FILE)
    template = phrases.get(code)
    if template is None:
        return " ".join([code, *(f"{name}={value}" for name, value in arguments.items())])
    if not arguments:
        return template
    return fill_phrase(
        template, {name: _localize(name, value, language) for name, value in arguments.items()}
    )


def _localize(name: str, value: Argument, language: str) -> Any:
    """The value as the sentence shows it; a word of a closed list (`field.answer`) has its own translation."""
    if isinstance(value, tuple):
        return _List(_localize(name, item, language) for item in value)
    if not isinstance(value, str):
        return value
    # Exports are in English, where an outcome stays its code (`judge_error`).
    if name == "outcome" and language == LANGUAGES[0]:
        return value
    key = f"{name}.{value}"
    in_report = name in REPORT_LISTS
    word = find_phrase(language, key) if in_report else load_phrases(language, FILE).get(key)
    return value if word is None else word


class LocalFloat(float):
    """A number that is written with the decimal sign of a language."""

    __slots__ = ("decimal",)
    decimal: str

    def __new__(cls, value: float, decimal: str) -> LocalFloat:
        number = super().__new__(cls, value)
        number.decimal = decimal
        return number

    def __format__(self, spec: str) -> str:
        return float.__format__(self, spec).replace(".", self.decimal)


class _List(tuple[Any, ...]):
    """Items that a template joins: `{items:; }` puts `; ` between them."""

    __slots__ = ()

    def __format__(self, separator: str) -> str:
        return (separator or ", ").join(map(str, self))


def _argument_to_json(value: Argument) -> Any:
    if isinstance(value, tuple):
        return [_argument_to_json(item) for item in value]
    return message_to_json(value) if isinstance(value, str) else value


def _argument_from_json(value: Any) -> Argument:
    if isinstance(value, list):
        return tuple(_argument_from_json(item) for item in value)
    return message_from_json(value) if isinstance(value, dict) else value
