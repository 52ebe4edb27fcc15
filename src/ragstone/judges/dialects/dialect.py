"""A dialect is one vendor's HTTP API for completions; subclass Dialect and decorate it with register_dialect."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar

from ragstone.errors import RagstoneError
from ragstone.judges.completion import CompletionRequest, Finish
from ragstone.judges.http import MalformedReply, RequestRejected
from ragstone.types import to_count

OutputMode = Literal["schema", "json", "text"]
"""How the form of a reply is enforced: by the JSON schema, as any JSON, by the prompt alone."""

Parameters = Mapping[str, Any]
"""Parameters of a request, by their names in the API."""

SETTINGS = ("temperature", "top_p", "seed", "max_tokens")
"""Sampling settings of a judge, by the names users write."""


class UnknownDialect(RagstoneError):
    """No dialect is registered under this name."""


class CompletionReply(NamedTuple):
    """A server's reply to a completion request, the same for every dialect."""

    text: str
    finish: Finish
    input_tokens: int
    output_tokens: int
    first_tokens: tuple[tuple[str, float], ...] = ()
    """The likeliest first tokens with their log-probabilities, where the API gives them."""


class Dialect(ABC):
    """One vendor's API: where it is, how a request is written and how its replies and errors are read."""

    name: ClassVar[str]
    """What users write before the colon: `name:MODEL`."""
    home: ClassVar[str]
    """The vendor's base URL, used unless the config gives another."""
    key_variables: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Host → environment variables that may hold its key; the key is sent to no other host."""
    modes: ClassVar[tuple[OutputMode, ...]] = ("schema", "json", "text")
    """Output modes from the strictest to the loosest; a server that rejects one is sent the next."""
    max_output_tokens: ClassVar[int] = 8192
    """Token limit of a reply unless the config gives another."""
    length_parameter: str = "max_tokens"
    """The parameter that limits the tokens of a reply."""
    parameter_names: ClassVar[Mapping[str, str]] = {}
    """Names of the other sampling settings in this API, where they differ from ours."""
    price: ClassVar[tuple[float, float] | None] = None
    """USD per million input and output tokens of every model, for servers that ask for nothing."""
    parameter_needs: ClassVar[Mapping[str, str]] = {}
    """Parameter → the one without which it must not be sent."""
    fixed_headers: ClassVar[Mapping[str, str]] = {}
    """Headers that the API always wants."""

    def __init__(self, host: str) -> None:
        self.host = host

    @property
    def defaults(self) -> dict[str, Any]:
        """Parameters sent unless the config says otherwise or the model rejects them."""
        return {"temperature": 0, self.length_parameter: self.max_output_tokens}

    @property
    def choice_parameters(self) -> dict[str, Any]:
        """Parameters with which a model is asked for one token, and for its probability where the API has it."""
        return {self.length_parameter: 1}

    def to_parameters(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Translate the sampling settings of a judge into this API's parameters."""
        names = {"max_tokens": self.length_parameter, **self.parameter_names}
        return {names.get(name, name): settings[name] for name in SETTINGS if name in settings}

    @abstractmethod
    def path(self, model: str) -> str:
        """Return the URL path of a completion, appended to the base URL."""

    @abstractmethod
    def key_headers(self, key: str) -> dict[str, str]:
        """Return the headers that carry the key."""

    def headers(self, key: str | None) -> dict[str, str]:
        """Return the headers of every request."""
        if not key:
            return dict(self.fixed_headers)
        # Azure hosts models of several vendors and takes the key of any in another header
        is_azure = self.host.endswith(".azure.com")
        return {**({"api-key": key} if is_azure else self.key_headers(key)), **self.fixed_headers}

    @abstractmethod
    def body(
        self, model: str, request: CompletionRequest, parameters: Parameters, mode: OutputMode
    ) -> dict[str, Any]:
        """Build the JSON body of a request."""

    @abstractmethod
    def parse_reply(self, reply: Any) -> CompletionReply:
        """Read the text, the reason for stopping and the tokens; raises MalformedReply."""

    @staticmethod
    def parse_error(body: bytes) -> tuple[str, str]:
        """Return the message of an error reply and the parameter it names, if any."""
        text = body[:MAX_ERROR_BYTES].decode("utf-8", "replace")
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return text, ""
        if isinstance(value, list) and value:
            value = value[0]
        error = value.get("error", value) if isinstance(value, dict) else value
        if not isinstance(error, dict):
            return str(error), ""
        message = error.get("message") or error.get("detail") or json.dumps(error)
        return str(message), str(error.get("param") or "")

    def find_rejected_parameter(
        self, rejection: RequestRejected, parameters: Mapping[str, Any]
    ) -> str | None:
        """Return the parameter that a rejection (HTTP 400 or 422) complains of; it is not sent again."""
        words = f"{rejection.parameter} {rejection.message}".lower()
        # the longest name first: "max_tokens" is part of other parameters' names
        for name in sorted(parameters, key=len, reverse=True):
            if name.lower() in words or _to_snake_case(name) in words:
                return name
        return None

    def rejects_output_mode(self, rejection: RequestRejected) -> bool:
        """Return whether a rejection complains of the schema or of JSON output."""
        words = f"{rejection.parameter} {rejection.message}".lower()
        return any(word in words for word in _OUTPUT_MODE_WORDS)


MAX_ERROR_BYTES = 20_000
"""Bytes of an error reply that are read."""

# One list for all dialects: gateways pass on the errors of the vendor behind them.
_OUTPUT_MODE_WORDS = (
    "response_format", "json_schema", "json_object", "output_config", "responsejsonschema",
    "response_json_schema", "responsemimetype", "response_mime_type", "response mime type",
    "structured output", "schema", "grammar", "json mode",
)  # fmt: skip

DIALECTS: dict[str, type[Dialect]] = {}
"""Registered dialects by name."""

D = TypeVar("D", bound=type[Dialect])


def register_dialect(dialect: D) -> D:
    """Make a dialect known under its name (class decorator)."""
    DIALECTS[dialect.name] = dialect
    return dialect


def find_dialect(name: str) -> type[Dialect]:
    """Return the dialect of that name; raises UnknownDialect with the names that exist."""
    if name not in DIALECTS:
        raise UnknownDialect(f"no dialect {name!r}; known dialects: {', '.join(sorted(DIALECTS))}")
    return DIALECTS[name]


def first_row(reply: Any, name: str) -> dict[str, Any]:
    """Return the first object of a list in the reply; raises MalformedReply when there is none."""
    rows = reply.get(name) if isinstance(reply, dict) else None
    if not isinstance(rows, list) or not rows or not isinstance(rows[0], dict):
        raise MalformedReply("server_without_part", name=name)
    return rows[0]


def as_object(value: Any) -> dict[str, Any]:
    """Return the value if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def read_count(usage: Mapping[str, Any], name: str) -> int:
    """Return a token count, 0 when the server gives none or an absurd one."""
    return to_count(usage.get(name))


def _to_snake_case(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name)
