"""A judge that makes no mistake about the planted runs, because it knows which text tells which fact."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bench.planted.corpus import Fact, load_facts
from bench.planted.faults import CHATTER, change_numbers
from ragstone.asks import Ask
from ragstone.text.content import is_small_talk
from ragstone.text.refusals import is_refusal
from ragstone.text.sentences import split_cited_parts
from ragstone.text.words import fold_text


class PerfectJudge:
    """Answers Asks from tables: which texts tell a fact truly, and which falsely."""

    def __init__(self) -> None:
        self._true: dict[str, list[Fact]] = {}
        self._false: dict[str, list[Fact]] = {}
        self._facts = {f.id: f for code in ("en", "es") for f in load_facts(code)}
        for fact in self._facts.values():
            for text in (fact.reference, fact.evidence, fact.paraphrase, fact.other_language):
                self._add(self._true, text, fact)
            self._add(self._false, change_numbers(fact), fact)

    def __call__(self, ask: Ask) -> Any:
        return getattr(self, f"_answer_{ask.kind}")(ask.values)

    def _add(self, table: dict[str, list[Fact]], text: str | None, fact: Fact) -> None:
        if text is None:
            return
        parts = [text[start:end] for start, end in split_cited_parts(text, fact.language)]
        # a bare answer is put to the judge with its question before it
        for part in {text, *parts, f"{fact.question} {text}"}:
            table.setdefault(_normalize(part), []).append(fact)

    def _answer_claims(self, values: Mapping[str, Any]) -> Any:
        rows = []
        for item in values["texts"]:
            for number, sentence in enumerate(item["sentences"]):
                # "No." alone says nothing that could be checked
                if is_small_talk(sentence) or len(sentence.split()) < 2 < len(item["text"].split()):
                    continue
                claim = f"{item['question']} {item['text']}" if item.get("question") else sentence
                rows.append({"text_id": item["id"], "sentence": number, "claim": claim})
        return {"claims": rows}

    def _answer_support(self, values: Mapping[str, Any]) -> Any:
        verdicts = []
        for case in values["cases"]:
            for claim in case["claims"]:
                verdict, evidence = self._check(claim["text"], case["sources"])
                verdicts.append(
                    {"id": claim["id"], "verdict": verdict, "evidence": evidence, "reason": ""}
                )
        return {"verdicts": verdicts}

    def _check(
        self, claim: str, sources: Iterable[Mapping[str, str]]
    ) -> tuple[str, list[dict[str, str]]]:
        true, false = self._true.get(_normalize(claim), []), self._false.get(_normalize(claim), [])
        bare = claim.strip().rstrip(".")
        contradicted: list[dict[str, str]] = []
        for source in sources:
            place = source["text"].find(_strip_markers(bare))
            if place >= 0:
                return "supported", [{"source": source["id"], "quote": _strip_markers(bare)}]
            for fact in true:
                quote = self._find_telling(fact, source["text"])
                if quote:
                    return "supported", [{"source": source["id"], "quote": quote}]
            for fact in false:
                quote = self._find_telling(fact, source["text"])
                if quote:
                    contradicted.append({"source": source["id"], "quote": quote})
        return ("contradicted", contradicted[:1]) if contradicted else ("not_found", [])

    def _find_telling(self, fact: Fact, text: str) -> str | None:
        """The words of a text that tell the fact; a bare reference counts in short texts only."""
        texts = [fact.evidence, fact.paraphrase, fact.other_language]
        if len(text.split()) < 60 and text.count("\n") == 0:
            texts.append(fact.reference)
        for wording in texts:
            if wording and wording.rstrip(".") in text:
                return wording.rstrip(".")
        return None

    def _answer_useful(self, values: Mapping[str, Any]) -> Any:
        facts = self._find_asked(values["question"])
        rows = []
        for chunk in values["chunks"]:
            grade = 2 * any(self._find_telling(fact, chunk["text"]) for fact in facts)
            for target in values["targets"]:
                rows.append({"id": chunk["id"], "target": target, "grade": grade, "reason": ""})
        return {"grades": rows}

    def _answer_questions(self, values: Mapping[str, Any]) -> Any:
        answer, asked = values["answer"], values.get("question", "")
        others = [f"What else is told about {n}?" for n in ("the weather", "music", "football")]
        told = self._is_about(answer, asked)
        variants = [asked, f"Tell me: {asked}", f"{asked} Do you know?"]
        texts = (variants if told else others)[: values["count"]]
        evasive = is_refusal(answer) or any(answer == " ".join(some) for some in CHATTER.values())
        return {"evasive": evasive, "questions": texts}

    def _is_about(self, answer: str, question: str) -> bool:
        wordings = []
        for fact in self._find_asked(question):
            wordings += [fact.reference, fact.evidence, fact.paraphrase, fact.other_language]
            wordings += [change_numbers(fact)]
            wordings += [f for name in fact.near for f in _list_near(name, fact)]
        plain = _strip_markers(answer)
        return any(wording and wording.rstrip(".") in plain for wording in wordings)

    def _answer_aspects(self, values: Mapping[str, Any]) -> Any:
        told = self._is_about(values["answer"], values["question"])
        return {
            "aspects": [{"aspect": values["question"], "covered": told, "quote": values["answer"]}]
        }

    def _answer_rate(self, values: Mapping[str, Any]) -> Any:
        return {"level": len(values["levels"]) - 1, "reason": ""}

    def _find_asked(self, question: str) -> list[Fact]:
        return [fact for fact in self._facts.values() if fact.question in question]


def _list_near(document: str, fact: Fact) -> list[str]:
    from bench.planted.corpus import find_nearest_sentence

    return [find_nearest_sentence(document, fact)]


def _normalize(text: str) -> str:
    return fold_text(_strip_markers(text)).rstrip(". ")


def _strip_markers(text: str) -> str:
    import re

    return re.sub(r"\s*\[\d+\]", "", text)
