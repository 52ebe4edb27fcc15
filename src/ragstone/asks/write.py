"""`write`: one line of a test question about sources: the question, its answer, the sentence that proves it, or a
guess."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal

from ragstone.asks.fences import fence, to_one_line
from ragstone.asks.kind import Kind, register
from ragstone.asks.protocol import WHOLE, ParsedReply, PromptBatch, WholeSpec, build_reply_schema
from ragstone.asks.rows import number_sources
from ragstone.asks.schemas import STRING, object_of
from ragstone.asks.types import Ask
from ragstone.types import Chunk

Step = Literal["question", "answer", "sentence", "guess"]
"""`question`: ask what a person with a need would; `answer`: tell it from the sources; `sentence`: copy what
proves it;
`guess`: answer without any source. An empty text means that there is none."""


def write(
    step: Step,
    sources: Sequence[Chunk] = (),
    *,
    question: str = "",
    answer: str = "",
    kind: str = "",
    person: str = "",
    about: str = "",
    earlier: Sequence[str] = (),
    language: str | None = None,
) -> Ask:
    """Write one line; `person` is who asks, `about` the name that two sources share, `earlier` the turns before."""
    values: dict[str, Any] = {"step": step, "sources": number_sources(sources)}
    given = {
        "question": question, "answer": answer, "kind": kind, "person": person, "about": about,
        "earlier": list(earlier),
    }  # fmt: skip
    return Ask("write", {**values, **{k: v for k, v in given.items() if v}}, WRITE, language)


WRITE = object_of(text=STRING)


class WriteSpec(WholeSpec):
    """One line of text, asked for with the prompt of its step."""

    def __init__(self, ask: Ask) -> None:
        super().__init__(ask)
        self.prompt = f"write_{ask.values['step']}"

    def build_batch(self, items: Sequence[Hashable], nonce: str) -> PromptBatch:
        """Build the prompt of the sources and what was written before."""
        given = self.ask.values
        sources = "\n".join(fence(nonce, f"source {s['id']}", s["text"]) for s in given["sources"])
        turns = "\n".join(given.get("earlier", ()))
        values = {
            "sources": sources,
            "earlier": fence(nonce, "earlier turns", turns) if turns else "",
            "question": fence(nonce, "question", given.get("question", "")),
            "answer": fence(nonce, "answer", given.get("answer", "")),
            "kind": given.get("kind", ""),
            "person": to_one_line(given.get("person", "")),
            "about": to_one_line(given.get("about", "")),
            "language": self.ask.language or "en",
        }
        return _WriteBatch(values)


class _WriteBatch:
    """A prompt without a probe: what it writes is proved by other questions."""

    schema = build_reply_schema(**WRITE["properties"])

    def __init__(self, values: Mapping[str, str]) -> None:
        self.values = values

    def parse(self, value: Any) -> ParsedReply:
        """Settle the Ask with the text on one line."""
        return ParsedReply({WHOLE: {"text": " ".join(value["text"].split())}})


KIND = register(
    Kind(
        "write",
        lambda language: write("question", [Chunk(text="x")], kind="factual", language=language),
        spec=WriteSpec,
        is_text=True,
    )
)
