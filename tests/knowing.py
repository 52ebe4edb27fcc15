"""A judge that knows the controls of `ragstone judge check`: what a perfect model would reply to them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ragstone.asks import Ask
from ragstone.experiments.judge_check.controls import _load_topics, share_words

TRUE_FIELDS = ("answer", "reference", "half_answer")
SENTENCE = re.compile(r"[^.]+\.")


class Oracle:
    """The true reply to each Ask about the topics of a language."""

    def __init__(self, language: str) -> None:
        self.topics = _load_topics(language)
        self.home = {
            text: (number, field)
            for number, topic in enumerate(self.topics)
            for field, text in topic.items()
            if isinstance(text, str)
        }
        """Text → its topic and field."""

    def __call__(self, ask: Ask) -> Any:
        answer: Callable[[dict[str, Any]], Any] = getattr(self, ask.kind)
        return answer(dict(ask.values))

    def field(self, text: str) -> str:
        return self.home.get(text, (0, ""))[1]

    def claims(self, values: dict[str, Any]) -> Any:
        rows = []
        for text in values["texts"]:
            for number, sentence in enumerate(text["sentences"]):
                is_pair = self.field(text["text"]) == "pair_answer" and len(text["sentences"]) == 1
                parts = (
                    re.split(r",? (?:and|y|e) ", sentence, maxsplit=1) if is_pair else [sentence]
                )
                rows += [{"text_id": text["id"], "sentence": number, "claim": p} for p in parts]
        return {"claims": rows}

    def support(self, values: dict[str, Any]) -> Any:
        return {
            "verdicts": [
                self.verdict(claim, case["sources"])
                for case in values["cases"]
                for claim in case["claims"]
            ]
        }

    def verdict(self, claim: dict[str, Any], sources: list[dict[str, Any]]) -> dict[str, Any]:
        # a bare reference is put as a statement with its question
        number, field = self.home.get(claim.get("answer") or claim["text"], (-1, ""))
        truths = [s for s in sources if self.field(s["text"]) in ("passage", *TRUE_FIELDS)]
        if field not in TRUE_FIELDS or not truths or self.home[truths[0]["text"]][0] != number:
            against = field == "wrong" or any(self.field(s["text"]) == "wrong" for s in sources)
            verdict = "contradicted" if against else "not_found"
            return {"id": claim["id"], "verdict": verdict, "evidence": [], "reason": "known"}
        quote = max(
            SENTENCE.findall(truths[0]["text"]), key=lambda s: share_words(claim["text"], s)
        )
        evidence = [{"source": truths[0]["id"], "quote": quote.strip()}]
        return {"id": claim["id"], "verdict": "supported", "evidence": evidence, "reason": "known"}

    def useful(self, values: dict[str, Any]) -> Any:
        (target,) = values["targets"]
        is_asked = self.field(values["question"]) == "question"
        return {
            "grades": [
                {
                    "id": chunk["id"],
                    "target": target,
                    "grade": 2 if is_asked and self.field(chunk["text"]) == "passage" else 0,
                    "reason": "known",
                }
                for chunk in values["chunks"]
            ]
        }

    def aspects(self, values: dict[str, Any]) -> Any:
        answer = values["answer"]
        is_whole = self.field(answer) == "pair_answer"
        rows = [("first", True, answer), ("second", is_whole, answer if is_whole else "")]
        return {"aspects": [{"aspect": a, "covered": c, "quote": q} for a, c, q in rows]}

    def questions(self, values: dict[str, Any]) -> Any:
        number, field = self.home[values["answer"]]
        if field == "off":
            return {"evasive": True, "questions": []}
        asked = self.topics[number]["question"]
        return {"evasive": False, "questions": [f"{asked} {n}" for n in "123"]}

    def rate(self, values: dict[str, Any]) -> Any:
        return {
            "level": 4 if self.field(values["texts"]["answer"]) == "passage" else 0,
            "reason": "",
        }

    def embed(self, values: dict[str, Any]) -> Any:
        return {"vectors": [self.vector(text) for text in values["texts"]]}

    def vector(self, text: str) -> list[float]:
        number, field = self.home.get(text.rstrip(" 123"), (0, ""))
        is_other = field == "invented"
        return [float(n == number and not is_other) for n in range(15)] + [float(is_other)]

    def solve(self, values: dict[str, Any]) -> Any:
        (case,) = values["cases"]
        (question,) = case["questions"]
        number, field = self.home[question["text"]]
        told = field == "question"
        key = self.topics[number]["key"][0] if told else ""
        return {"answers": [{"id": question["id"], "told": told, "answer": key, "quote": key}]}

    def write(self, values: dict[str, Any]) -> Any:
        return {"text": SENTENCE.findall(values["sources"][0]["text"])[0].strip()}
