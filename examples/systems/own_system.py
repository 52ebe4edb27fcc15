"""A system of your own: any function that takes a question. Run: python examples/systems/own_system.py"""

from __future__ import annotations

import asyncio

from ragstone import Store, evaluate, read
from ragstone.systems import SystemRunner, answer_dataset, make_system

SHELF = {
    "hours": "The library opens at nine and closes at eight.",
    "fees": "A late book costs ten cents a day.",
}


def answer(question: str, *, top_k: int = 1) -> dict[str, object]:
    """Rank the shelf by shared words and say the best text."""
    asked = set(question.lower().strip("?").split())
    ranked = sorted(SHELF, key=lambda key: -len(asked & set(SHELF[key].lower().split())))[:top_k]
    contexts = [{"id": key, "text": SHELF[key]} for key in ranked]
    return {"answer": SHELF[ranked[0]], "contexts": contexts}


def main() -> None:
    questions = read(
        [
            {"question": "When does the library close?", "reference": "at eight", "relevant": ["hours"]},
            {"question": "What does a late book cost?", "reference": "ten cents a day", "relevant": ["fees"]},
        ]
    )  # fmt: skip
    store = Store.open(":memory:")
    system = make_system(answer, top_k=1)
    answered = asyncio.run(answer_dataset(questions, SystemRunner(system, store, run="example")))
    print(evaluate(answered, ["recall", "token_f1"], store=store))


if __name__ == "__main__":
    main()
