"""The forms of the other kinds: claims, useful, aspects, questions, rate, translate."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from ragstone.asks import Ask
from ragstone.errors import JudgeFailed
from ragstone.judges.fences import fence, neutralize, to_one_line
from ragstone.judges.specs.protocol import ParsedReply, PromptBatch, PromptSpec, match_rows
from ragstone.judges.specs.support import SupportSpec
from ragstone.prompts import find_placeholders
from ragstone.text.evidence import find_quote
from ragstone.text.words import fold_text


def build_spec(ask: Ask) -> PromptSpec:
    """The form for a kind of Ask."""
    if ask.kind in ("write", "solve"):
        from ragstone.judges.specs.testset import SolveSpec, WriteSpec

        return _made(WriteSpec if ask.kind == "write" else SolveSpec, ask)
    if ask.kind not in _FORMS:
        raise JudgeFailed("refusal", f"language models answer no {ask.kind!r} questions")
    return _made(_FORMS[ask.kind], ask)


def _made(form: type[Any], ask: Ask) -> PromptSpec:
    made: PromptSpec = form(ask)
    return made


def find_prompt_name(ask: Ask) -> str:
    """The name of the prompt for an Ask."""
    if ask.kind == "useful" and ask.values.get("wording") == 2:
        return "useful_2"
    return ask.kind


class ClaimsSpec:
    """Every sentence of every text must be accounted for, if only by saying that it claims nothing."""

    prompt = "claims"

    def __init__(self, ask: Ask) -> None:
        self.texts = ask.values["texts"]
        self.items = [(t["id"], n) for t in self.texts for n in range(len(t["sentences"]))]

    def build_batch(self, items: Sequence[Hashable], mark: str, trapped: bool) -> PromptBatch:
        """The texts with the open sentences numbered; the others stand by for their sense."""
        wanted = set(items)
        blocks = []
        for text in self.texts:
            open_here = [(text["id"], n) in wanted for n in range(len(text["sentences"]))]
            if not any(open_here):
                continue
            lines = [
                f"[{n}] {to_one_line(sentence)}" if is_open else to_one_line(sentence)
                for n, (sentence, is_open) in enumerate(
                    zip(text["sentences"], open_here, strict=True)
                )
            ]
            blocks.append("\n".join([f"<<<{mark} text {text['id']}", *lines, f"{mark}>>>"]))
        return _ClaimsBatch({"texts": "\n\n".join(blocks)}, list(items), self.texts)

    def build_reply(self, settled: Mapping[Hashable, Any]) -> Any:
        """The claims in the order of the sentences."""
        rows = [
            {"text_id": item[0], "sentence": item[1], "claim": claim}
            for item in self.items
            for claim in settled[item]
        ]
        return {"claims": rows}


class _ClaimsBatch:
    def __init__(
        self, values: Mapping[str, str], items: Sequence[Hashable], texts: Sequence[Any]
    ) -> None:
        self.values = values
        self.items = items
        self.words = {text["id"]: _stems(text["text"]) for text in texts}

    def read(self, value: Any) -> ParsedReply:
        """Claims by sentence; a sentence without an entry is missing."""
        found: dict[Hashable, list[str]] = {}
        for row in value["claims"]:
            claim = " ".join(row["claim"].split())
            if claim and _invented(claim, self.words.get(row["text_id"], set())):
                fault = (
                    f"the claim {claim[:60]!r} says something that is not in {row['text_id'][:20]}"
                )
                return ParsedReply(fault=fault)
            kept = found.setdefault((row["text_id"], row["sentence"]), [])
            if claim and claim not in kept:
                kept.append(claim)
        return match_rows(list(found.items()), self.items)


_WORD = re.compile(r"\w+")
_SPACELESS = re.compile("[\u0e00-\u0eff\u2e80-\uffff]")
_LEAST_SHARED = 0.3
"""Share of a claim's longer words that must come from its text; a paraphrase keeps more than that."""


def _stems(text: str) -> set[str]:
    return {word[:4] for word in _WORD.findall(fold_text(text)) if len(word) > 3 or word.isdigit()}


def _invented(claim: str, words: set[str]) -> bool:
    """Whether a claim has next to nothing to do with the text it is said to come from."""
    if not claim.isascii() and _SPACELESS.search(claim):
        return False  # without spaces there are no words to compare
    stems = _stems(claim)
    return len(stems) > 1 and len(stems & words) < _LEAST_SHARED * len(stems)


class UsefulSpec:
    """Every passage is graded for every target."""

    def __init__(self, ask: Ask) -> None:
        self.question = ask.values["question"]
        self.chunks = ask.values["chunks"]
        self.targets = ask.values["targets"]
        self.prompt = find_prompt_name(ask)
        self.items = [(c["id"], target) for c in self.chunks for target in self.targets]

    def build_batch(self, items: Sequence[Hashable], mark: str, trapped: bool) -> PromptBatch:
        """The passages and targets that still lack grades."""
        pairs = set(items)
        chunks = [c for c in self.chunks if any((c["id"], t) in pairs for t in self.targets)]
        targets = [t for t in self.targets if any((c["id"], t) in pairs for c in chunks)]
        goals = [
            fence(mark, f"target {name}", self.targets[name])
            if self.targets[name] is not None
            else f"target {name}: = question"
            for name in targets
        ]
        values = {
            "question": fence(mark, "question", self.question),
            "targets": "\n".join(goals),
            "chunks": "\n".join(fence(mark, f"passage {c['id']}", c["text"]) for c in chunks),
        }
        everything = [(c["id"], target) for c in chunks for target in targets]
        return _UsefulBatch(values, everything)

    def build_reply(self, settled: Mapping[Hashable, Any]) -> Any:
        """One grade for each pair, in the order of the Ask."""
        rows = [{"id": item[0], "target": item[1], **settled[item]} for item in self.items]
        return {"grades": rows}


class _UsefulBatch:
    def __init__(self, values: Mapping[str, str], items: Sequence[Hashable]) -> None:
        self.values = values
        self.items = items

    def read(self, value: Any) -> ParsedReply:
        """Grades by passage and target."""
        return match_rows(
            [
                ((row["id"], row["target"]), {"grade": row["grade"], "reason": row["reason"]})
                for row in value["grades"]
            ],
            self.items,
        )


_WHOLE = "reply"
"""The only item of an Ask that is answered as a whole."""


class _WholeSpec:
    """An Ask that one reply settles or does not."""

    prompt = ""
    items: Sequence[Hashable] = (_WHOLE,)

    def __init__(self, ask: Ask) -> None:
        self.ask = ask

    def build_reply(self, settled: Mapping[Hashable, Any]) -> Any:
        """The reply as it is."""
        return settled[_WHOLE]


class _WholeBatch:
    def __init__(self, values: Mapping[str, str]) -> None:
        self.values = values

    def fault(self, value: Any) -> str:
        """What is wrong with the reply; empty when nothing is."""
        return ""

    def doubt(self, value: Any) -> str:
        """What is unproven in the reply; empty when nothing is."""
        return ""

    def read(self, value: Any) -> ParsedReply:
        """The whole reply, or nothing."""
        fault = self.fault(value)
        if fault:
            return ParsedReply(fault=fault)
        doubt = self.doubt(value)
        return ParsedReply({_WHOLE: value}, {_WHOLE} if doubt else set(), unproven_reason=doubt)


class AspectsSpec(_WholeSpec):
    """What the question asks for, each with the words of the answer that speak to it."""

    prompt = "aspects"

    def build_batch(self, items: Sequence[Hashable], mark: str, trapped: bool) -> PromptBatch:
        """Question and answer."""
        question, answer = self.ask.values["question"], self.ask.values["answer"]
        values = {
            "question": fence(mark, "question", question),
            "answer": fence(mark, "answer", answer),
        }
        return _AspectsBatch(values, answer)


class _AspectsBatch(_WholeBatch):
    def __init__(self, values: Mapping[str, str], answer: str) -> None:
        super().__init__(values)
        self.answer = answer

    def fault(self, value: Any) -> str:
        names = [fold_text(row["aspect"]) for row in value["aspects"]]
        if not names or not all(names):
            return "it listed no aspect"
        return "it listed one aspect twice" if len(set(names)) < len(names) else ""

    def doubt(self, value: Any) -> str:
        for row in value["aspects"]:
            if row["covered"] and find_quote(row["quote"], self.answer) is None:
                return f"the quote for {row['aspect'][:60]!r} does not stand in the answer"
        return ""


class QuestionsSpec(_WholeSpec):
    """As many questions as wanted, all different."""

    prompt = "questions"

    def build_batch(self, items: Sequence[Hashable], mark: str, trapped: bool) -> PromptBatch:
        """The answer."""
        count = self.ask.values["count"]
        answer = fence(mark, "answer", self.ask.values["answer"])
        return _QuestionsBatch({"answer": answer, "count": str(count)}, count)


class _QuestionsBatch(_WholeBatch):
    def __init__(self, values: Mapping[str, str], count: int) -> None:
        super().__init__(values)
        self.count = count

    def fault(self, value: Any) -> str:
        given = [fold_text(question) for question in value["questions"]]
        if not all(given):
            return "one of the questions was empty"
        if value["evasive"] and len(given) <= self.count:
            return ""  # the metric is settled; the questions do not matter
        if len(given) != self.count:
            return f"it gave {len(given)} questions instead of {self.count}"
        return "it gave one question twice" if len(set(given)) < len(given) else ""


class RateSpec(_WholeSpec):
    """A level of a closed scale; the schema says all there is to check."""

    prompt = "rate"

    def build_batch(self, items: Sequence[Hashable], mark: str, trapped: bool) -> PromptBatch:
        """The texts, the criterion and its levels."""
        values = self.ask.values
        levels = [f"{n}: {to_one_line(level)}" for n, level in enumerate(values["levels"])]
        texts = [fence(mark, to_one_line(name), text) for name, text in values["texts"].items()]
        return _WholeBatch(
            {
                "texts": "\n".join(texts),
                "name": to_one_line(values["name"]),
                "question": neutralize(values["question"]),
                "levels": "\n".join(levels),
            }
        )


class TranslateSpec(_WholeSpec):
    """A prompt in another language, its placeholders untouched."""

    prompt = "translate"

    def build_batch(self, items: Sequence[Hashable], mark: str, trapped: bool) -> PromptBatch:
        """The prompt as it stands: its braces are what must survive, so they are not broken up."""
        values = self.ask.values
        text = f"<<<{mark} text\n{values['text']}\n{mark}>>>"
        return _TranslateBatch({"text": text, "language": values["language"]}, values["text"])


class _TranslateBatch(_WholeBatch):
    def __init__(self, values: Mapping[str, str], original: str) -> None:
        super().__init__(values)
        self.original = original

    def fault(self, value: Any) -> str:
        text = value["text"]
        if find_placeholders(text) != find_placeholders(self.original):
            return "the placeholders in double braces were not left as they are"
        lines = self.original.splitlines().count("---")
        return (
            "" if text.splitlines().count("---") == lines else "the line --- was not left as it is"
        )


_FORMS: dict[str, type[Any]] = {
    "claims": ClaimsSpec,
    "support": SupportSpec,
    "useful": UsefulSpec,
    "aspects": AspectsSpec,
    "questions": QuestionsSpec,
    "rate": RateSpec,
    "translate": TranslateSpec,
}
