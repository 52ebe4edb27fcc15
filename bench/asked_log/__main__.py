"""A log of questions with planted duplicates, chatter and personal data: what `generate --from-log` makes of it.

    python -m bench.asked_log [--rows 5000] [--seed 1] [--sample 100] [--bars] [--wrong 15]

The questions were written by hand (intents.txt), each in several people's words; the log repeats them as logs do:
the same
words, other capitals and marks, a greeting, a slip of the keyboard, another person's wording. Measured are the
share of
planted duplicates that are joined with the question they repeat (by kind of duplicate), the share of joined rows that
belong elsewhere, the topics that the sample covers, and every planted piece of personal data that is left.
`--bars` gives
the same for several bars of likeness, beside the plain way (the same words only)."""

from __future__ import annotations

import argparse
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ragstone.testset.from_log import (
    MIN_SAME,
    AskedQuestion,
    LoggedQuestion,
    clean_log,
    group_topics,
    join_questions,
    sample_questions,
)
from ragstone.text.personal import remove_personal

GREETINGS = ("Hi, ", "hello! ", "Good morning, ", "hey there ", "Quick question: ", "Please, ")
SALUDOS = ("Hola, ", "buenas tardes, ", "Por favor, ", "hola! ")
ENDINGS = (" thanks", ", please", " thank you!", " thx", "")
FINALES = (" gracias", ", por favor", "")
CHATTER = (
    "hi",
    "Hello",
    "thanks!",
    "ok",
    "Thank you so much",
    "hola",
    "gracias",
    "vale",
    "yes",
    "no",
    "bye",
    "Great, thanks",
    "hey there",
    "test",
    "lol",
    "👍",
    "??",
    "ok perfect",
    "muchas gracias",
    "Good morning",
    "buenos días",
    "got it, thank you",
)
PEOPLE = (
    ("My name is {}. ", "Ingrid Solheim"),
    ("Hi, I'm {}. ", "Tomás Arrieta"),
    ("this is {}. ", "Gwendolyn Parkhurst"),
    ("me llamo {}. ", "Rocío Benavente"),
    ("Soy {}. ", "Amparo Iriarte"),
)
DETAILS = (
    (" My e-mail is {}.", "w.harrow{}@post.example"),
    (" Call me on {}.", "+44 7700 900{:03d}"),
    (" My order number is {}.", "QX-88{}31"),
    (" Card {}.", "4556 7375 8689 {:04d}"),
    (" IBAN {}.", "GB29 NWBK 6016 1331 92{:02d} 19"),
    (" Customer no. {}.", "C77{}09"),
    (" I live at {}.", "{} Larkspur Lane"),
    (" mi teléfono es {}.", "612 44 5{} 12"),
    (" DNI {}.", "450{}871K"),
    (" write to {}", "a_{}.b@correo.example"),
)


class Intent(NamedTuple):
    topic: str
    wordings: tuple[str, ...]
    near: tuple[str, ...]
    """Wordings that differ little from the first."""


class Row(NamedTuple):
    text: str
    intent: int
    """-1 for chatter."""
    kind: str
    secrets: tuple[str, ...] = ()


def read_intents() -> list[Intent]:
    """The intents of the file beside this one."""
    intents, topic, block = [], "", []
    for line in [*Path(__file__).with_name("intents.txt").read_text("utf-8").splitlines(), ""]:
        if line.startswith("#"):
            continue
        if line.startswith("["):
            topic = line.strip("[]")
        elif line.strip():
            block.append(line.strip())
        elif block:
            near = tuple(line.removeprefix("~ ") for line in block if line.startswith("~"))
            intents.append(
                Intent(topic, tuple(line for line in block if not line.startswith("~")), near)
            )
            block = []
    return intents


def slip(text: str, rng: random.Random) -> str:
    """A slip of the keyboard in a long word: two letters swapped or one lost."""
    words = text.split()
    places = [n for n, word in enumerate(words) if len(word) > 5 and word.isalpha()]
    if not places:
        return text
    at = rng.choice(places)
    word, n = words[at], rng.randrange(1, len(words[at]) - 2)
    words[at] = word[:n] + (
        word[n + 1] + word[n] + word[n + 2 :] if rng.random() < 0.5 else word[n + 1 :]
    )
    return " ".join(words)


def write_log(rows: int, seed: int) -> tuple[list[Row], list[Intent]]:
    """The log: intents by a Zipf law, each row a duplicate of a kind, chatter between them, personal data in some."""
    rng = random.Random(seed)
    intents = read_intents()
    order = list(range(len(intents)))
    rng.shuffle(order)
    weights = [1 / (rank + 3) for rank in range(len(order))]
    log = []
    for _ in range(rows):
        if rng.random() < 0.15:
            log.append(Row(rng.choice(CHATTER), -1, "chatter"))
            continue
        number = rng.choices(order, weights)[0]
        wordings = intents[number].wordings
        is_spanish = intents[number].topic in ("devoluciones", "envíos", "préstamos")
        draw = rng.random()
        kind = (
            "same"
            if draw < 0.4
            else "marks"
            if draw < 0.55
            else "greeting"
            if draw < 0.7
            else "slip"
            if draw < 0.8
            else "near"
            if draw < 0.9
            else "far"
        )
        text = wordings[0]
        if kind in ("near", "far"):
            text = rng.choice((kind == "near" and intents[number].near) or wordings[1:])
            kind = kind if kind == "far" or intents[number].near else "far"
        if kind == "marks":
            text = rng.choice(
                (text.upper(), text.lower().strip("?¿"), f"{text.strip('?')} ?", f"  {text}!!")
            )
        elif kind == "greeting":
            text = (
                rng.choice(SALUDOS if is_spanish else GREETINGS)
                + text
                + rng.choice(FINALES if is_spanish else ENDINGS)
            )
        elif kind == "slip":
            text = slip(text, rng)
        secrets: tuple[str, ...] = ()
        if rng.random() < 0.12:
            frame, form = rng.choice(DETAILS)
            secret = form.format(rng.randrange(10, 99))
            intro, person = rng.choice(PEOPLE)
            text = f"{intro.format(person)}{text}{'' if text.endswith(('?', '!', '.')) else '.'}{frame.format(secret)}"
            secrets = (secret, *person.split())
        log.append(Row(text, number, kind, secrets))
    return log, intents


def measure(
    log: Sequence[Row], intents: Sequence[Intent], bar: float, sample: int, wrong: int = 0
) -> dict[str, float]:
    """Shares in percent."""
    # each row by itself, so that what becomes of it is known
    home: dict[str, list[int]] = defaultdict(list)
    rows = []
    lost = chatter_kept = 0
    leaks = 0
    for at, row in enumerate(log):
        cleaned, _ = clean_log([LoggedQuestion(row.text)], remove_personal)
        if row.intent < 0:
            chatter_kept += bool(cleaned)
        elif not cleaned:
            lost += 1
        for one in cleaned:
            leaks += sum(secret.lower() in one.text.lower() for secret in row.secrets)
            home[one.text].append(at)
            rows.append(LoggedQuestion(row.text))
    asked, _ = clean_log([LoggedQuestion(row.text) for row in log], remove_personal)
    joined = join_questions(asked, bar)
    cluster_of = {text: number for number, one in enumerate(joined) for text in one.wordings}
    clusters: dict[int, Counter[int]] = defaultdict(Counter)
    placed: dict[int, int] = {}
    for text, places in home.items():
        for at in places:
            if text in cluster_of:
                placed[at] = cluster_of[text]
                clusters[log[at].intent][cluster_of[text]] += 1
    main = {intent: counts.most_common(1)[0][0] for intent, counts in clusters.items()}
    by_kind: dict[str, list[bool]] = defaultdict(list)
    seen: set[int] = set()
    for at, row in enumerate(log):
        if row.intent < 0:
            continue
        if row.intent not in seen:  # the first of its kind repeats nothing
            seen.add(row.intent)
            continue
        by_kind[row.kind].append(placed.get(at) == main[row.intent])
    members: dict[int, Counter[int]] = defaultdict(Counter)
    for at, cluster in placed.items():
        members[cluster][log[at].intent] += 1
    foreign = sum(sum(counts.values()) - max(counts.values()) for counts in members.values())
    if wrong:
        _show_wrong(joined, members, intents, wrong)
    group_topics(joined, 0)
    chosen = sample_questions(joined, sample)
    covered = {
        intents[max(members[n], key=members[n].__getitem__)].topic
        for n, one in enumerate(joined)
        if any(one is c for c in chosen) and members[n]
    }
    every = [hit for hits in by_kind.values() for hit in hits]
    shares = {kind: 100 * sum(hits) / len(hits) for kind, hits in sorted(by_kind.items())}
    return {
        "joined": 100 * sum(every) / len(every),
        **shares,
        "foreign": 100 * foreign / max(1, len(placed)),
        "questions": len(joined),
        "topics": 100 * len(covered) / len({one.topic for one in intents}),
        "chatter kept": chatter_kept,
        "lost": lost,
        "personal left": leaks,
    }


def _show_wrong(
    joined: Sequence[AskedQuestion],
    members: dict[int, Counter[int]],
    intents: Sequence[Intent],
    most: int,
) -> None:
    mixed = [n for n, counts in members.items() if len(counts) > 1]
    for n in mixed[:most]:
        names = [
            f"{intents[i].wordings[0]} ({count})" if i >= 0 else f"chatter ({count})"
            for i, count in members[n].items()
        ]
        print(f"  {joined[n].text!r}: {'; '.join(names)}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sample", type=int, default=100)
    parser.add_argument("--bars", action="store_true")
    parser.add_argument("--wrong", type=int, default=0)
    given = parser.parse_args()
    log, intents = write_log(given.rows, given.seed)
    for bar in (2.0, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55) if given.bars else (2.0, MIN_SAME):
        figures = measure(log, intents, bar, given.sample, given.wrong if bar <= 1 else 0)
        name = "same words" if bar > 1 else f"cosine {bar:.2f}"
        print(f"{name:<12}", "  ".join(f"{key} {value:.1f}" for key, value in figures.items()))


if __name__ == "__main__":
    main()
