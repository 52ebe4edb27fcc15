"""Builds a judge from what a user writes: `openai:gpt-4o-mini`, a mapping of settings, a function, a list (a jury)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragstone.errors import RagstoneError, suggest_nearest
from ragstone.judges import Judge, bespoke
from ragstone.judges.cascade import Cascade
from ragstone.judges.cascade_settings import (
    CASCADE_SETTINGS,
    check_cascade,
    read_bounds,
    read_check,
)
from ragstone.judges.choices import ChoiceModel
from ragstone.judges.classifier import ClassifierJudge
from ragstone.judges.completion import LanguageModel
from ragstone.judges.dialects import DIALECTS, Dialect, collect_key_variables, find_dialect
from ragstone.judges.function import FunctionJudge
from ragstone.judges.hints import suggest_spec
from ragstone.judges.http import JsonClient
from ragstone.judges.jury import Jury
from ragstone.judges.limits import Budget
from ragstone.judges.local.forms import FORMS
from ragstone.judges.model_judge import ModelJudge
from ragstone.judges.objects import (
    HeldModel,
    adapt_model,
    find_model_name,
    is_model_object,
    takes_schema,
)
from ragstone.judges.plain import PlainJudge
from ragstone.judges.prices import find_price
from ragstone.judges.prompted_choices import PromptedChoices
from ragstone.judges.remote import RemoteEmbeddings, RemoteModel
from ragstone.judges.secrets import (
    BaseUrl,
    MissingKey,
    Redactor,
    find_key,
    format_basic_auth,
    parse_base_url,
)
from ragstone.locale.messages import compose
from ragstone.registry.plugins import load_object

SETTINGS = (
    "model", "name", "jury", "first", "then", "unsure", "agree", "check", "base_url", "identity", "api_key", "key_env", "small", "temperature", "top_p", "seed",
    "max_tokens", "parameters", "prices", "concurrency", "max_retries", "timeout", "deadline",
    "run_deadline", "max_usd", "max_calls", "rate", "embeddings", "language", "prompts", "batch", "device",
    "threads", "context", "labels",
    "allow_unmeasured", "calibration",
)  # fmt: skip
"""Keys of a judge that is written as a mapping."""
CLASSIFIER_KINDS = ("nli", *FORMS)
"""Prefixes of classifiers of pairs of texts."""
LOCAL_KINDS = ("gguf", "hf", *CLASSIFIER_KINDS)
"""Prefixes of models that run in this process."""


class UnknownJudge(RagstoneError):
    """What the user wrote names no judge, or gives it a setting that does not exist."""


def list_kinds() -> list[str]:
    """Return the forms in which a judge can be named."""
    remote = [f"{name}:MODEL" for name in DIALECTS]
    paths = [f"{kind}:PATH" for kind in LOCAL_KINDS]
    return ["offline", "local", *remote, "any-llm:PROVIDER:MODEL", *paths, "python:module:function"]


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
    missing_keys: list[str] | None = None,
) -> Judge:
    """Build the judge that a spec names: a text, a mapping of settings, a list (a jury), a function, or a Judge.

    With `missing_keys` the message about a missing API key is appended there instead of raised: for a judge that
    will not be asked."""
    if _is_judge(spec):
        judge: Judge = spec
        return judge
    settings = _to_settings(spec)
    given = {
        "embeddings": embeddings, "language": language, "prompts": prompts,
        "concurrency": concurrency, "max_usd": max_usd, "max_calls": max_calls,
        # no setting that a user may write, but it goes wherever the settings go
        "missing_keys": missing_keys,
    }  # fmt: skip
    settings |= {name: value for name, value in given.items() if value is not None}
    if budget is None:
        budget = Budget(
            settings.get("max_usd"),
            settings.get("max_calls"),
            settings.get("run_deadline"),
            calls_per_second=_check_rate(settings),
        )
    check_identity(settings)
    judge = _make_uncalibrated(settings, budget)
    if settings.get("calibration"):
        from ragstone.judges.calibration import Calibration

        judge.calibration = Calibration.from_json(settings["calibration"])  # type: ignore[attr-defined]
    return judge


def _make_uncalibrated(settings: Mapping[str, Any], budget: Budget) -> Judge:
    if "jury" in settings:
        return Jury(_make_members(settings["jury"], settings, budget))
    if "first" in settings:
        return _make_cascade(settings, budget)
    return _make_single(settings, budget)


def make_embeddings(
    spec: Any, budget: Budget | None = None, missing_keys: list[str] | None = None
) -> Judge:
    """Build the judge that embeds texts: the offline encoder by default, `openai:MODEL`, `hf:PATH`, or a Judge."""
    if _is_judge(spec):
        judge: Judge = spec
        return judge
    if spec is None or spec == "offline":
        from ragstone.judges.embeddings import OfflineEmbeddings  # loads numpy

        return OfflineEmbeddings()
    settings = _to_settings(spec)
    kind, _, name = str(settings["model"]).partition(":")
    if kind == "hf" and name:
        from ragstone.judges.huggingface import LocalEmbeddings, check_installed

        check_installed(name)
        return LocalEmbeddings(name, device=settings.get("device"))
    if kind == "openai" and name:
        settings["missing_keys"] = missing_keys
        check_identity(settings)
        client, _ = _make_client(kind, settings, budget or Budget())
        return RemoteEmbeddings(
            name,
            client,
            price=find_price(name, settings.get("prices")),
            deadline=settings.get("deadline", 300.0),
            parameters=settings.get("parameters"),
            identity=settings.get("identity"),
        )
    raise UnknownJudge(
        f"no embeddings {settings['model']!r}; write offline, openai:MODEL or hf:PATH"
    )


def to_public_spec(spec: Any) -> Any:
    """Return the spec as it may be stored and shown: no key, no secret in a URL, functions by name."""
    if isinstance(spec, Mapping):
        public = {name: to_public_spec(v) for name, v in spec.items() if name != "api_key"}
        if isinstance(public.get("base_url"), str):
            public["base_url"] = parse_base_url(public["base_url"]).url
        return public
    if isinstance(spec, list | tuple):
        return [to_public_spec(member) for member in spec]
    if spec is None or isinstance(spec, str | int | float | bool):
        return spec
    return getattr(spec, "name", None) or getattr(spec, "__qualname__", type(spec).__name__)


def _is_judge(spec: Any) -> bool:
    return all(hasattr(spec, name) for name in ("identity", "answer", "close", "concurrency"))


def _to_settings(spec: Any) -> dict[str, Any]:
    if spec is None:
        return {"model": "offline"}
    if isinstance(spec, str):
        return {"model": spec.strip()}
    if isinstance(spec, Mapping):
        for name in spec:
            if name not in SETTINGS:
                raise UnknownJudge(
                    f"a judge has no setting {name!r}{suggest_nearest(str(name), SETTINGS)}"
                )
        if sum(name in spec for name in ("model", "jury", "first")) != 1:
            raise UnknownJudge(
                "a judge needs either 'model' or 'jury', or 'first' and 'then'; write model: openai:NAME"
            )
        check_cascade(spec)
        return dict(spec)
    if isinstance(spec, Sequence):
        return {"jury": list(spec)}
    if callable(spec) or is_model_object(spec):
        return {"model": spec}
    raise UnknownJudge(f"{spec!r} is not a judge; write one of {', '.join(list_kinds())}")


def _check_rate(settings: Mapping[str, Any]) -> float | None:
    rate = settings.get("rate")
    if rate is not None and (not isinstance(rate, int | float) or not rate > 0):
        raise UnknownJudge(f"the judge's rate is {rate!r}; give calls a second, such as 50")
    return rate


def _check_flag(settings: Mapping[str, Any], name: str) -> bool:
    value = settings.get(name, False)
    if not isinstance(value, bool):
        raise UnknownJudge(f"the judge's {name} is {value!r}; write true or false")
    return value


def check_identity(settings: Mapping[str, Any]) -> None:
    """Raise UnknownJudge for an `identity` that is no name, or that names no model behind a URL."""
    name = settings.get("identity")
    if name is None:
        return
    if not isinstance(name, str) or not name.strip():
        raise UnknownJudge(f"the judge's identity is {name!r}; give a name, such as qwen-7b-q4")
    kind = str(settings.get("model")).partition(":")[0]
    if kind not in DIALECTS and not is_model_object(settings.get("model")):
        raise UnknownJudge(
            "'identity' names the model behind a URL; give it beside model: openai:NAME, "
            "to each judge of a jury or a cascade its own"
        )


def _make_cascade(settings: Mapping[str, Any], budget: Budget) -> Judge:
    unsure, check = read_bounds(settings), read_check(settings)
    first, second = _make_members([settings["first"], settings["then"]], settings, budget)
    return Cascade(first, second, unsure=unsure, check=check, seed=settings.get("seed") or 0)


def _make_members(
    members: Sequence[Any], settings: Mapping[str, Any], budget: Budget
) -> list[Judge]:
    """The judges of a jury or a cascade; settings beside them count for each that does not set its own."""
    own = ("jury", "calibration", *CASCADE_SETTINGS)
    shared = {name: value for name, value in settings.items() if name not in own}
    # not among SETTINGS: a member with it would be refused
    missing_keys = shared.pop("missing_keys", None)
    judges = []
    for member in members:
        member_settings = dict(member) if isinstance(member, Mapping) else {"model": member}
        spec = member if _is_judge(member) else {**shared, **member_settings}
        judges.append(make_judge(spec, budget=budget, missing_keys=missing_keys))
    return judges


def _make_single(settings: Mapping[str, Any], budget: Budget) -> Judge:
    model = settings["model"]
    if is_model_object(model):
        return _make_held(model, settings, budget)
    if callable(model):
        return _make_function_judge(model, settings, budget)
    kind, _, name = str(model).partition(":")
    if model == "offline":
        from ragstone.judges.offline import OfflineJudge  # loads numpy

        return OfflineJudge(allow_unmeasured=_check_flag(settings, "allow_unmeasured"))
    if kind == "python" and name:
        return _make_function_judge(load_object(name, "judge"), settings, budget)
    if kind == "any-llm" and name:
        from ragstone.judges.any_llm import AnyLLM

        return _make_held(AnyLLM(name), settings, budget)
    if kind == "local":
        from ragstone.judges.local.catalogue import find_local_model

        return _make_local("gguf", str(find_local_model(name).path), settings, budget)
    if kind in LOCAL_KINDS and name:
        return _make_local(kind, name, settings, budget)
    if kind in DIALECTS and name:
        return _make_remote(kind, name, settings, budget)
    meant = suggest_spec(str(model), [form.partition(":")[0] for form in list_kinds()])
    hint = f" did you mean {meant}? or" if meant else ""
    raise UnknownJudge(f"no judge {model!r};{hint} write one of {', '.join(list_kinds())}")


def _make_function_judge(function: Any, settings: Mapping[str, Any], budget: Budget) -> Judge:
    return FunctionJudge(
        function,
        make_embeddings(settings.get("embeddings"), budget, settings.get("missing_keys")),
        concurrency=settings.get("concurrency") or 8,
        budget=budget,
        deadline=settings.get("deadline", 300.0),
    )


def _make_held(target: Any, settings: Mapping[str, Any], budget: Budget) -> Judge:
    """Build the judge of a model that another framework made: JSON where it takes a schema, else the plain question."""
    adapted = adapt_model(target, str(settings.get("name") or ""))
    assert adapted is not None  # `is_model_object` said so
    framework, call = adapted
    model = HeldModel(
        target,
        call,
        framework,
        budget=budget,
        identity=settings.get("identity") or settings.get("name"),
        price=find_price(find_model_name(target), settings.get("prices")),
        concurrency=settings.get("concurrency") or 8,
        deadline=settings.get("deadline", 300.0),
    )
    judge = _make_model_judge(model, settings, budget)
    if settings.get("small", not takes_schema(target)):
        return make_plain(PromptedChoices(model), settings, judge.embeddings, writer=judge)
    return judge


def _make_remote(kind: str, name: str, settings: Mapping[str, Any], budget: Budget) -> Judge:
    client, dialect = _make_client(kind, settings, budget)
    given_price = settings.get("prices")
    price = dialect.price if given_price is None else None
    price = price or find_price(name, given_price)
    notes: tuple[str, ...] = ()
    if price is None:
        if budget.max_usd is not None:
            raise UnknownJudge(
                f"max_usd is set and no price is known for {name!r}; "
                "give prices: {input: USD, output: USD} per million tokens"
            )
        if client.base_url.url == dialect.home:
            notes = (compose("price_unknown", model=name),)

    given_parameters = dialect.to_parameters(settings)

    def make_model(**fixed: Any) -> RemoteModel:
        options: dict[str, Any] = {
            "parameters": {**given_parameters, **fixed, **(settings.get("parameters") or {})},
            "price": price,
            "deadline": settings.get("deadline", 300.0),
            "notes": notes,
            "identity": settings.get("identity"),
        }
        if settings.get("batch") is True:
            return _make_batched(dialect, name, client, settings, options)
        return RemoteModel(dialect, name, client, **options)

    if kind == "ollama" and name.partition(":")[0] == bespoke.MODEL:
        choices = PromptedChoices(make_model(**dialect.choice_parameters))
        embeddings = make_embeddings(
            settings.get("embeddings"), budget, settings.get("missing_keys")
        )
        return ClassifierJudge(bespoke.BespokeMiniCheck(choices), embeddings)
    judge = _make_model_judge(make_model(), settings, budget)
    if not settings.get("small"):
        return judge
    choices = PromptedChoices(make_model(**dialect.choice_parameters))
    return make_plain(choices, settings, judge.embeddings, writer=judge)


def _make_batched(
    dialect: Dialect,
    name: str,
    client: JsonClient,
    settings: Mapping[str, Any],
    options: dict[str, Any],
) -> RemoteModel:
    """A model asked through the batch API of its provider, at half the price."""
    from ragstone.judges.batching import BatchedModel
    from ragstone.judges.dialects.batches import BATCH_APIS

    if dialect.name not in BATCH_APIS:
        known = _list_batch_judges()
        raise UnknownJudge(f"batch: true is for {known}; leave it out for {dialect.name}:{name}")
    if settings.get("small"):
        raise UnknownJudge("batch: true and small: true exclude each other; leave one out")
    if options["price"] is not None:
        factor = BATCH_APIS[dialect.name].price_factor
        options["price"] = tuple(factor * usd for usd in options["price"])
    # with a budget of its own: sending, looking up and reading jobs is no call of the judge
    control, _ = _make_client(dialect.name, settings, Budget())
    return BatchedModel(
        dialect, name, client, batches=BATCH_APIS[dialect.name](dialect, control), **options
    )


def _list_batch_judges() -> str:
    """`openai:MODEL, anthropic:MODEL`: what `batch: true` can be given to."""
    from ragstone.judges.dialects.batches import BATCH_APIS

    return ", ".join(f"{name}:MODEL" for name in BATCH_APIS)


def _make_local(kind: str, name: str, settings: Mapping[str, Any], budget: Budget) -> Judge:
    """Build the judge of a model that runs in this process; a language model is asked the plain question unless
    `small` is false (a remote one takes it only where `small` is true)."""
    from ragstone.judges.local.build import build_classifier, build_language_model

    if settings.get("batch") is True:
        raise UnknownJudge(f"batch: true is for {_list_batch_judges()}; for {kind}: give a number")
    if kind in CLASSIFIER_KINDS:
        classifier = build_classifier(name, settings, budget, kind)
        embeddings = make_embeddings(
            settings.get("embeddings"), budget, settings.get("missing_keys")
        )
        return ClassifierJudge(classifier, embeddings)
    choices, model = build_language_model(kind, name, settings, budget)
    judge = _make_model_judge(model, settings, budget)
    if settings.get("small") is False:
        return judge
    return make_plain(choices, settings, judge.embeddings, writer=judge)


def make_plain(
    model: ChoiceModel, settings: Mapping[str, Any], embeddings: Judge, writer: Judge | None = None
) -> Judge:
    """Build the judge of a model that is asked for one token; `writer` is the same model on the JSON route."""
    return PlainJudge(
        model,
        embeddings,
        writer=writer,
        language=settings.get("language"),
        prompts_folder=settings.get("prompts"),
    )


def _make_model_judge(
    model: LanguageModel, settings: Mapping[str, Any], budget: Budget
) -> ModelJudge:
    return ModelJudge(
        model,
        make_embeddings(settings.get("embeddings"), budget, settings.get("missing_keys")),
        language=settings.get("language"),
        prompts_folder=settings.get("prompts"),
    )


def _make_client(
    kind: str, settings: Mapping[str, Any], budget: Budget
) -> tuple[JsonClient, Dialect]:
    dialect_class = find_dialect(kind)
    base_url = parse_base_url(settings.get("base_url") or dialect_class.home)
    dialect = dialect_class(base_url.host)
    key = _find_key(base_url, settings)
    headers = dialect.headers(key)
    if base_url.credentials:
        headers.setdefault("Authorization", format_basic_auth(base_url.credentials))
    secrets = (key, base_url.credentials, base_url.query)
    client = JsonClient(
        base_url,
        headers,
        Redactor(*(secret for secret in secrets if secret)),
        dialect.parse_error,
        concurrency=settings.get("concurrency") or 16,
        budget=budget,
        max_retries=settings.get("max_retries", 5),
        timeout=settings.get("timeout", 120.0),
    )
    return client, dialect


def _find_key(base_url: BaseUrl, settings: Mapping[str, Any]) -> str | None:
    variables = collect_key_variables().get(base_url.host, ())
    try:
        return find_key(base_url, settings.get("api_key"), settings.get("key_env"), variables)
    except MissingKey as missing:
        if settings.get("missing_keys") is None:
            raise
        settings["missing_keys"].append(str(missing))
        return None
