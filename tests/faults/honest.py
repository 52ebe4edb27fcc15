"""An honest judge: reads our prompts as a model would and answers by looking words up. A claim is true if it
stands in a source."""

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
        ("claims", claims),
        ("verdicts", support),
        ("grades", useful),
        ("aspects", aspects),
        ("questions", questions),
        ("level", rate),
        ("text", write),
        ("answers", solve),
        ("better", prefer),
        ("turns", turns),
        ("turn", goal),
        ("question", standalone),
    ):
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


SENTENCE = re.compile(r"[^.!?\n]{20,}[.!?]")


def write(blocks: list[tuple[str, str]], user: str) -> dict[str, Any]:
    """A perfect author, a line at a time: it asks about sentences of its sources by marks of its own. A prompt
    file is translated."""
    texts = dict(blocks)
    if "text" in texts:
        return {"text": re.sub(r"(?<!{)\bclaim", "énoncé", texts["text"])}
    sources = [text for label, text in blocks if label.startswith("source ")]
    kind = re.search(r"^(?:Kind|Tipo): (\w+)$", user, re.MULTILINE)
    if kind:
        person = re.search(r"^(?:Who asks|Quién pregunta): (.*)$", user, re.MULTILINE)
        seed = f"{person and person[1]}{texts.get('earlier turns', '')}"
        return {"text": ask_about(kind[1], sources, seed, is_spanish=kind[0].startswith("Tipo"))}
    if not sources:
        return {"text": ""}  # a guess: one has to look it up
    found = find_told(texts["question"], sources, needs_all="answer" not in texts)
    if "answer" in texts:
        return {"text": found[0] if found else ""}
    return {"text": " and ".join(" ".join(WORD.findall(fact)[-2:]) for fact in found)}


def ask_about(kind: str, sources: list[str], seed: str, *, is_spanish: bool = False) -> str:
    """A question of a kind about a sentence of the first source, or of each; which one depends on who asks."""
    facts = [[found[0].strip() for found in SENTENCE.finditer(text)] for text in sources]
    number = int(hashlib.sha256(f"{seed}{sources}".encode()).hexdigest()[:8], 16)
    chosen = [own[number % len(own)] for own in facts if own]
    if not chosen or (kind in ("comparison", "bridge") and len(chosen) < 2):
        return ""
    first, last = mark(chosen[0]), mark(chosen[-1])
    topic = next(iter(WORD.findall(chosen[0])[:-2]), "it all")
    if is_spanish:
        return {
            "unanswerable": f"¿Quién fundó el observatorio {first}, y para quiénes?",
            "false_premise": f"¿Por qué los zepelines impidieron lo que se cuenta en el asunto {first}?",
            "follow_up": f"¿Y después en el asunto {first}?",
        }.get(kind, f"¿Qué se cuenta de {topic} en el asunto {first}?")
    return {
        "unanswerable": f"Who founded the {first} observatory, and for whom?",
        "false_premise": f"Why did zeppelins cancel what is told in matter {first}?",
        "follow_up": f"And then in matter {first}?",
        "comparison": f"How does matter {first} differ from matter {last}?",
        "bridge": f"Which thing of matter {first} leads to matter {last}?",
    }.get(kind, f"What is told of {topic} in matter {first}?")


def find_told(question: str, sources: list[str], *, needs_all: bool = True) -> list[str]:
    """The sentences that a question asks about, where they all stand in these sources."""
    facts = [found[0].strip() for source in sources for found in SENTENCE.finditer(source)]
    marks = re.findall(r"\b(?:matter|asunto) (\w+)", question.splitlines()[-1] if question else "")
    found = [next((fact for fact in facts if mark(fact) == one), "") for one in marks]
    return [] if needs_all and not all(found) else [fact for fact in found if fact]


def solve(blocks: list[tuple[str, str]], user: str) -> dict[str, Any]:
    """A perfect reader of what `write` asks: the sentences whose marks the question names."""
    rows = []
    sources: list[str] = []
    for label, text in blocks:
        if label.startswith("source "):
            sources.append(text)
            continue
        for name, question in re.findall(r"^(q\d+): (.*)$", text, re.MULTILINE):
            # turns of a conversation stand on one line, the last question at its end
            facts = find_told(
                question.rpartition("? ")[2]
                if re.search("And then|Y después", question)
                else question,
                sources,
            )
            answer = " and ".join(" ".join(WORD.findall(fact)[-2:]) for fact in facts)
            rows.append(
                {
                    "id": name,
                    "told": bool(facts),
                    "answer": answer,
                    "quote": facts[0] if facts else "",
                }
            )
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
