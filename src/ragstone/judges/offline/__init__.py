"""The embedded judge: every kind of Ask answered by local code, without a key, a network or a
cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragstone.asks import Answered, Ask, Reply
from ragstone.errors import JudgeFailed
from ragstone.judges import Reopenable
from ragstone.locale.messages import compose
from ragstone.text.language import identify_language, is_measured_language
from ragstone.text.windows import MAX_SOURCE_CHARS, select_windows

VERSION = 9
"""Changes whenever any score could change: part of the name in reports and of the cache key."""

HEURISTIC = "heuristic"
"""Note on replies that stand on stated rules alone; docs/judge-offline.md names them."""
LANGUAGE_UNMEASURED = "language_unmeasured"
"""Note on replies in a language in which it was never measured."""


class OfflineJudge(Reopenable):
    """Deterministic; measured against people in English and Spanish (docs/judge-offline.md)."""

    name = f"offline {VERSION}"
    batch = 32
    concurrency = 1
    local = True
    can_fork = True
    """Forked processes may use it at once: it only computes."""

    def __init__(self, *, allow_unmeasured: bool = False) -> None:
        self.allow_unmeasured = allow_unmeasured
        """Whether it answers in languages in which it was never measured, with a note, instead of
        failing."""

    def identity(self, ask: Ask) -> Mapping[str, Any]:
        """The judge and its version."""
        identity = {"judge": "offline", "version": VERSION}
        return {**identity, "allow_unmeasured": True} if self.allow_unmeasured else identity

    async def answer(self, asks: Sequence[Ask]) -> list[Answered]:
        """A reply to each Ask; texts to embed are encoded together."""
        from ragstone.judges.embeddings import answer_embeds

        embeds = iter(answer_embeds([ask for ask in asks if ask.kind == "embed"]))
        return [next(embeds) if ask.kind == "embed" else self._answer(ask) for ask in asks]

    async def close(self) -> None:
        """It holds no connection."""

    def _answer(self, ask: Ask) -> Answered:
        # imported late: numpy and the learned files are read when the first question comes
        from ragstone.judges.offline.kinds import HEURISTIC_KINDS, KINDS

        language = ask.language or identify_language("\n".join(_list_texts(ask.values)))
        is_measured = is_measured_language(language)
        if not is_measured and not self.allow_unmeasured:
            return JudgeFailed("unsupported", "language_unsupported", language=language)
        if ask.kind == "prefer":
            return JudgeFailed("unsupported", "prefer_unsupported")
        if ask.kind not in KINDS:
            return JudgeFailed("refusal", "kind_unknown_offline", kind=ask.kind)
        # texts of one Ask may be in two languages: where none is given, each text shows which
        # measured one it is in
        try:
            values, is_cut = _bound_sources(ask)
            value = KINDS[ask.kind](values, ask.language if is_measured else language)
        except JudgeFailed as failed:
            return failed
        notes = [compose(HEURISTIC)] if ask.kind in HEURISTIC_KINDS else []
        if is_cut:
            notes.append(compose("sources_cut", n=MAX_SOURCE_CHARS))
        if not is_measured:
            notes.append(compose(LANGUAGE_UNMEASURED, language=language))
        return Reply(value, notes=tuple(notes))


def _bound_sources(ask: Ask) -> tuple[Mapping[str, Any], bool]:
    """The values of an Ask with long sources cut down to what speaks of its claims or question, and
    whether they were."""
    values = ask.values
    if ask.kind == "support":
        cases = [
            _cut_items(c, "sources", [x["text"] for x in c["claims"]]) for c in values["cases"]
        ]
        is_cut = any(case is not old for case, old in zip(cases, values["cases"], strict=True))
        return {**values, "cases": cases}, is_cut
    if ask.kind == "useful":
        targets = [text for text in values["targets"].values() if text]
        bounded = _cut_items(values, "chunks", [values["question"], *targets])
        return bounded, bounded is not values
    return values, False


def _cut_items(holder: Mapping[str, Any], name: str, wanted: Sequence[str]) -> Mapping[str, Any]:
    texts = [item["text"] for item in holder[name]]
    windows = select_windows(texts, wanted)
    if windows == texts:
        return holder
    cut = [{**item, "text": text} for item, text in zip(holder[name], windows, strict=True)]
    return {**holder, name: cut}


TEXT_CHARS = 400
"""How much of each text tells the language of an Ask."""
_NOT_UNDER_TEST = frozenset(["id", "sentences", "name", "levels", "wording", "count"])
"""Values that repeat a text, or are none of the sample's."""


def _list_texts(values: Any) -> Iterator[str]:
    """The texts of an Ask, or their beginnings: the language is that of the whole, not of a
    claim."""
    if isinstance(values, str):
        yield values[:TEXT_CHARS]
    elif isinstance(values, Mapping):
        for name, value in values.items():
            if name not in _NOT_UNDER_TEST:
                yield from _list_texts(value)
    elif isinstance(values, Sequence):
        for value in values:
            yield from _list_texts(value)
