"""From what a user writes to a judge: `openai:gpt-4o-mini`, a mapping of settings, a function, a jury."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragstone.errors import RagstoneError, nearest
from ragstone.judges import Judge
from ragstone.judges.limits import Budget

SETTINGS = (
    "model", "jury", "base_url", "api_key", "key_env", "small", "temperature", "top_p", "seed",
    "max_tokens", "parameters", "prices", "concurrency", "max_retries", "timeout", "deadline",
    "run_deadline", "max_usd", "max_calls", "rate", "embeddings", "language", "prompts", "batch", "device",
)  # fmt: skip
"""What the mapping form of a judge may hold."""

KINDS = (
    "offline",
    "openai:MODEL",
    "anthropic:MODEL",
    "gemini:MODEL",
    "hf:PATH",
    "python:module:function",
)


class UnknownJudge(RagstoneError):
    """What the user wrote names no judge, or gives it a setting that does not exist."""


def make_judge(
    spec: Any = None,
    *,
    embeddings: Any = None,
    language: str | None = None,
    prompts: str | None = None,
    concurrency: int | None = None,
    max_usd: float | None = None,
    max_calls: int | None = None,
    budget: Budget | None = None,
    lacks: list[str] | None = None,
) -> Judge:
    """The judge that a spec names: a text, a mapping of settings, a list (a jury), a function, or a Judge.

    With `lacks` a missing key is noted there instead of raised: for a judge that will not be asked."""
    if _is_judge(spec):
        judge: Judge = spec
        return judge
    settings = _settings(spec)
    given = {
        "embeddings": embeddings, "language": language, "prompts": prompts,
        "concurrency": concurrency, "max_usd": max_usd, "max_calls": max_calls, "lacks": lacks,
    }  # fmt: skip
    settings |= {name: value for name, value in given.items() if value is not None}
    if budget is None:
        budget = Budget(
            settings.get("max_usd"),
            settings.get("max_calls"),
            settings.get("run_deadline"),
            rate=_rate(settings),
        )
    if "jury" in settings:
        return _jury(settings, budget)
    return _single(settings, budget)


def _rate(settings: Mapping[str, Any]) -> float | None:
    rate = settings.get("rate")
    if rate is not None and (not isinstance(rate, int | float) or not rate > 0):
        raise UnknownJudge(f"the judge's rate is {rate!r}; give calls a second, such as 50")
    return rate


def make_embeddings(
    spec: Any, budget: Budget | None = None, lacks: list[str] | None = None
) -> Judge:
    """Who embeds texts: the embedded model by default, `openai:MODEL`, `hf:PATH`, or a Judge."""
    if _is_judge(spec):
        judge: Judge = spec
        return judge
    if spec is None or spec == "offline":
        from ragstone.judges.embeddings import OfflineEmbeddings

        return OfflineEmbeddings()
    settings = _settings(spec)
    kind, _, name = str(settings["model"]).partition(":")
    if kind == "hf" and name:
        from ragstone.judges.huggingface import LocalEmbeddings, check_installed

        check_installed(name)
        return LocalEmbeddings(name, device=settings.get("device"))
    if kind == "openai" and name:
        from ragstone.judges.prices import find_price
        from ragstone.judges.remote import RemoteEmbeddings

        client, _ = _client(kind, settings | {"lacks": lacks}, budget or Budget())
        return RemoteEmbeddings(
            name,
            client,
            price=find_price(name, settings.get("prices")),
            deadline=settings.get("deadline", 300.0),
            parameters=settings.get("parameters"),
        )
    raise UnknownJudge(
        f"no embeddings {settings['model']!r}; write offline, openai:MODEL or hf:PATH"
    )


def to_public_spec(spec: Any) -> Any:
    """The spec as it may be stored and shown: no key, no secret in a URL, functions by name."""
    if isinstance(spec, Mapping):
        shown = {k: to_public_spec(v) for k, v in spec.items() if k != "api_key"}
        if isinstance(shown.get("base_url"), str):
            from ragstone.judges.secrets import parse_base_url

            shown["base_url"] = parse_base_url(shown["base_url"]).url
        return shown
    if isinstance(spec, list | tuple):
        return [to_public_spec(one) for one in spec]
    if spec is None or isinstance(spec, str | int | float | bool):
        return spec
    return getattr(spec, "name", None) or getattr(spec, "__qualname__", type(spec).__name__)


def _is_judge(spec: Any) -> bool:
    return all(hasattr(spec, name) for name in ("identity", "answer", "close", "concurrency"))


def _settings(spec: Any) -> dict[str, Any]:
    if spec is None:
        return {"model": "offline"}
    if isinstance(spec, str):
        return {"model": spec.strip()}
    if isinstance(spec, Mapping):
        for name in spec:
            if name not in SETTINGS:
                raise UnknownJudge(f"a judge has no setting {name!r}{nearest(str(name), SETTINGS)}")
        if ("model" in spec) == ("jury" in spec):
            raise UnknownJudge("a judge needs either 'model' or 'jury'; write model: openai:NAME")
        return dict(spec)
    if isinstance(spec, Sequence):
        return {"jury": list(spec)}
    if callable(spec):
        return {"model": spec}
    raise UnknownJudge(f"{spec!r} is not a judge; write one of {', '.join(KINDS)}")


def _jury(settings: Mapping[str, Any], budget: Budget) -> Judge:
    from ragstone.judges.jury import Jury

    shared = {k: v for k, v in settings.items() if k != "jury"}
    members = []
    for one in settings["jury"]:
        own = {"model": one} if not isinstance(one, Mapping) else dict(one)
        members.append(_member(one if _is_judge(one) else {**shared, **own}, budget))
    return Jury(members)


def _member(spec: Any, budget: Budget) -> Judge:
    lacks = spec.pop("lacks", None) if isinstance(spec, dict) else None
    return make_judge(spec, budget=budget, lacks=lacks)


def _single(settings: Mapping[str, Any], budget: Budget) -> Judge:
    model = settings["model"]
    if callable(model):
        return _function(model, settings, budget)
    kind, _, name = str(model).partition(":")
    if model == "offline":
        from ragstone.judges.offline import OfflineJudge

        return OfflineJudge()
    if kind == "python" and name:
        from ragstone.registry.plugins import load

        return _function(load(name, "judge"), settings, budget)
    if kind in ("openai", "anthropic", "gemini") and name:
        return _remote(kind, name, settings, budget)
    if kind == "hf" and name:
        return _local(name, settings, budget)
    raise UnknownJudge(f"no judge {model!r}; write one of {', '.join(KINDS)}")


def _function(function: Any, settings: Mapping[str, Any], budget: Budget) -> Judge:
    from ragstone.judges.function import FunctionJudge

    embeddings = make_embeddings(settings.get("embeddings"), budget, settings.get("lacks"))
    return FunctionJudge(
        function,
        embeddings,
        concurrency=settings.get("concurrency") or 8,
        budget=budget,
        deadline=settings.get("deadline", 300.0),
    )


def _remote(kind: str, name: str, settings: Mapping[str, Any], budget: Budget) -> Judge:
    from ragstone.judges.model_judge import ModelJudge
    from ragstone.judges.prices import find_price
    from ragstone.judges.remote import RemoteModel

    client, dialect = _client(kind, settings, budget)
    price = find_price(name, settings.get("prices"))
    notes: tuple[str, ...] = ()
    if price is None:
        if budget.max_usd is not None:
            raise UnknownJudge(
                f"max_usd is set and no price is known for {name!r}; "
                "give prices: {input: USD, output: USD} per million tokens"
            )
        if client.place.url == dialect.home:
            notes = (f"no price is known for {name!r}: tokens are counted, money is not",)
    model = RemoteModel(
        dialect,
        name,
        client,
        parameters=_parameters(dialect, settings),
        price=price,
        deadline=settings.get("deadline", 300.0),
        notes=notes,
    )
    return _under_discipline(ModelJudge, model, settings, budget)


def _local(name: str, settings: Mapping[str, Any], budget: Budget) -> Judge:
    from ragstone.judges.huggingface import LocalModel, check_installed
    from ragstone.judges.model_judge import ModelJudge

    check_installed(name)
    model = LocalModel(
        name,
        batch=settings.get("batch", 4),
        max_tokens=settings.get("max_tokens", 1024),
        deadline=settings.get("deadline", 600.0),
        device=settings.get("device"),
        budget=budget,
    )
    return _under_discipline(ModelJudge, model, settings, budget)


def _under_discipline(make: Any, model: Any, settings: Mapping[str, Any], budget: Budget) -> Judge:
    judge: Judge = make(
        model,
        make_embeddings(settings.get("embeddings"), budget, settings.get("lacks")),
        language=settings.get("language"),
        prompts_folder=settings.get("prompts"),
        small=bool(settings.get("small", False)),
    )
    return judge


def _client(kind: str, settings: Mapping[str, Any], budget: Budget) -> tuple[Any, Any]:
    from ragstone.judges.dialects import VENDORS, dialect_of
    from ragstone.judges.http import JsonClient
    from ragstone.judges.secrets import Redactor, format_basic_auth, parse_base_url

    place = parse_base_url(settings.get("base_url") or VENDORS[kind])
    dialect = dialect_of(kind, place.host)
    key = _key(place, settings)
    headers = dict(dialect.headers(key)) if key else {}
    if key and place.host.endswith(".azure.com"):  # there, Bearer is for tokens, not for keys
        headers = {"api-key": key}
    if place.credentials:
        headers.setdefault("Authorization", format_basic_auth(place.credentials))
    if kind == "anthropic":
        headers["anthropic-version"] = "2023-06-01"
    client = JsonClient(
        place,
        headers,
        Redactor(*(secret for secret in (key, place.credentials, place.query) if secret)),
        concurrency=settings.get("concurrency") or 16,
        budget=budget,
        max_retries=settings.get("max_retries", 5),
        timeout=settings.get("timeout", 120.0),
    )
    return client, dialect


def _key(place: Any, settings: Mapping[str, Any]) -> str | None:
    from ragstone.judges.secrets import MissingKey, find_key

    try:
        return find_key(place, settings.get("api_key"), settings.get("key_env"))
    except MissingKey as missing:
        if settings.get("lacks") is None:
            raise
        settings["lacks"].append(str(missing))
        return None


def _parameters(dialect: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Sampling parameters under the names of the dialect."""
    names = {"max_tokens": dialect.length, "top_p": "topP" if dialect.name == "gemini" else "top_p"}
    given = {
        names.get(name, name): settings[name]
        for name in ("temperature", "top_p", "seed", "max_tokens")
        if name in settings
    }
    return {**given, **(settings.get("parameters") or {})}
