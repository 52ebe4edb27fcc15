"""An honest judge: reads our prompts as a model would and answers by looking words up. A claim is true if it stands in a source."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from ragstone.text.evidence import find_quote

FENCE = re.compile(r"<<<([0-9a-f]{8}) ([^\n]*)\n(.*?)\n\1>>>", re.DOTALL)
WORD = re.compile(r"\w{4,}")


def reply(system: str, user: str) -> dict[str, Any]:
    """The true reply to a prompt."""
    shape = next(line for line in user.splitlines() if line.startswith('{"'))
    check = re.match(r'{"check": "(\w+)"', shape)
    blocks = [(m[2], m[3]) for m in FENCE.finditer(user)]
    for field, answer in (
        ("claims", claims), ("verdicts", support), ("grades", useful),
        ("aspects", aspects), ("questions", questions), ("level", rate), ("text", translate),
        ("items", write), ("answers", solve), ("better", prefer),
        ("turns", turns), ("turn", goal), ("question", standalone),
    ):  # fmt: skip
        if f'"{field}":' in shape:
            control = {"control": 0} if '"control":' in shape else {}
            return ({"check": check[1]} if check else {}) | answer(blocks, user) | control
    raise AssertionError(f"no kind of question has the shape {shape}")


def claims(blocks: list[tuple[str, str]], user: str) -> dict[str, Any]:
    rows = []
    for _, text in blocks:
        for label, sentence in re.findall(r"^(s\d+): (.*)$", text, re.MULTILINE):
            empty = sentence.endswith("?") or "do not know" in sentence
            claim = "" if empty else re.sub(r" ?\[\d+\]", "", sentence)
            rows.append({"sentence": label, "claim": claim})
    return {"claims": rows}


def support(blocks: list[tuple[str, str]], user: str) -> dict[str, Any]:
    rows = []
    sources: dict[str, str] = {}
    for label, text in blocks:
        if label.startswith("source "):
            sources[label.split()[1]] = text
            continue
        for name, claim in re.findall(r"^(c\d+): (.*)$", text, re.MULTILINE):
            home = next((k for k, source in sources.items() if find_quote(claim, source)), None)
            evidence = [{"source": home, "quote": claim}] if home else []
            verdict = "supported" if home else "not_found"
            rows.append(
                {"id": name, "verdict": verdict, "evidence": evidence, "reason": "looked up"}
            )
        sources = {}
    return {"verdicts": rows}


def useful(blocks: list[tuple[str, str]], user: str) -> dict[str, Any]:
    question = next(text for label, text in blocks if label == "question")
    passages = {label.split()[1]: text for label, text in blocks if label.startswith("passage ")}
    targets = {label.split()[1]: text for label, text in blocks if label.startswith("target ")}
    for name in re.findall(r"^target (\w+): open$", user, re.MULTILINE):
        targets[name] = question
    rows = []
    for chunk, text in passages.items():
        for target, wanted in targets.items():
            words = set(WORD.findall(wanted.lower()))
            shared = len(words & set(WORD.findall(text.lower()))) / max(1, len(words))
            grade = 2 if shared > 0.6 else 1 if shared > 0.3 else 0
            goal = {"target": target} if '"target":' in user else {}
            rows.append({"id": chunk, **goal, "grade": grade, "reason": "words"})
    return {"grades": rows}


def aspects(blocks: list[tuple[str, str]], user: str) -> dict[str, Any]:
    found = dict(blocks)
    rows = []
    for part in re.split(r"\band\b|\by\b", found["question"]):
        word = next((w for w in WORD.findall(part) if find_quote(w, found["answer"])), "")
        rows.append({"aspect": part.strip(" ?¿"), "covered": bool(word), "quote": word})
    return {"aspects": rows}


def questions(blocks: list[tuple[str, str]], user: str) -> dict[str, Any]:
    answer = dict(blocks)["answer"]
    count = int(re.search(r"^(?:Questions wanted|Preguntas pedidas): (\d+)", user, re.MULTILINE)[1])  # type: ignore[index]
    head = " ".join(answer.split()[:6])
    return {
        "evasive": "do not know" in answer,
        "questions": [f"{word} about {head}?" for word in ("What", "Who", "Where", "When")[:count]],
    }


def rate(blocks: list[tuple[str, str]], user: str) -> dict[str, Any]:
    levels = re.findall(r"^(\d+): ", user, re.MULTILINE)
    size = sum(len(text) for _, text in blocks)
    return {"reason": "by length", "level": min(len(levels) - 1, 1 + size % 3)}


def prefer(blocks: list[tuple[str, str]], user: str) -> dict[str, Any]:
    first, second = (len(text) for label, text in blocks if label.startswith("answer "))
    return {"reason": "longer", "better": "tie" if first == second else "AB"[second > first]}


def standalone(blocks: list[tuple[str, str]], user: str) -> dict[str, Any]:
    return {"question": dict(blocks)["question"]}


def turns(blocks: list[tuple[str, str]], user: str) -> dict[str, Any]:
    names = [label.split()[1].strip(",") for label, _ in blocks if label.endswith(", user")]
    plain = {"addresses": True, "contradicts": "", "quote": "", "reason": "so"}
    return {"turns": [{"id": name, **plain} for name in names]}


def goal(blocks: list[tuple[str, str]], user: str) -> dict[str, Any]:
    return {"turn": turns(blocks, user)["turns"][-1]["id"], "reason": "told"}


def translate(blocks: list[tuple[str, str]], user: str) -> dict[str, Any]:
    return {"text": re.sub(r"(?<!{)\bclaim", "énoncé", blocks[0][1])}


SENTENCE = re.compile(r"[^.!?\n]{20,}[.!?]")


def write(blocks: list[tuple[str, str]], user: str) -> dict[str, Any]:
    """A perfect author: each order asks about a sentence of its own, in words of its own."""
    sources = [(label.split()[1], text) for label, text in blocks if label.startswith("source ")]
    orders = re.findall(r"^(q\d+): (\w+)", user, re.MULTILINE)
    facts = [
        (name, found[0].strip()) for name, text in sources for found in SENTENCE.finditer(text)
    ]
    own = [fact for fact in facts if fact[0] == sources[0][0]]
    others = [fact for fact in facts if fact[0] != sources[0][0]]
    rows = []
    for n, (name, kind) in enumerate(orders):
        source, fact = own[n % len(own)]
        words = WORD.findall(fact)
        topic = " ".join(words[:-2][:4]) or words[0]
        row: dict[str, Any] = {
            "id": name,
            "question": f"What is told about {topic} in matter {mark(fact)}?",
            "answer": " ".join(words[-2:]),
            "evidence": [{"source": source, "quote": fact}],
            "difficulty": "easy",
        }
        if kind == "multi_document" and others:
            other = others[n % len(others)]
            row["evidence"].append({"source": other[0], "quote": other[1]})
        if kind in ("out_of_scope", "near_miss"):
            row |= {
                "question": f"Who founded the {mark(fact)} observatory?",
                "answer": "",
                "evidence": [],
            }
        if '"earlier_question":' in user:
            turn = kind == "follow_up"
            row |= {
                "earlier_question": f"What of {topic}?" if turn else "",
                "earlier_answer": fact if turn else "",
            }
        rows.append(row)
    return {"items": rows}


def solve(blocks: list[tuple[str, str]], user: str) -> dict[str, Any]:
    """A perfect reader of what `write` asks: the sentence whose mark the question names."""
    rows = []
    sources: list[str] = []
    for label, text in blocks:
        if label.startswith("source "):
            sources.append(text)
            continue
        facts = [found[0].strip() for source in sources for found in SENTENCE.finditer(source)]
        for name, question in re.findall(r"^(q\d+): (.*)$", text, re.MULTILINE):
            fact = next((one for one in facts if f"matter {mark(one)}?" in question), "")
            answer = " ".join(WORD.findall(fact)[-2:])
            rows.append({"id": name, "told": bool(fact), "answer": answer, "quote": fact})
        sources = []
    return {"answers": rows}


def mark(fact: str) -> str:
    """A word that stands for a sentence and for no other."""
    digest = hashlib.sha256(fact.encode()).digest()
    return "".join("bcdfglmnprstvz"[byte % 14] + "aeiou"[byte // 14 % 5] for byte in digest[:4])


def vector(text: str) -> list[float]:
    """A bag of hashed words: alike texts have alike vectors."""
    values = [0.0] * 64
    for word in re.findall(r"\w+", text.lower()) or [text]:
        values[hashlib.sha256(word.encode()).digest()[0] % 64] += 1.0
    return values
