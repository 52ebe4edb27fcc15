"""A metric of your own: its parameters name the fields it needs, its options come after the star."""

from ragstone import Finding, NotApplicable, Score, evaluate, metric


@metric
def polite(answer: str, *, words: tuple[str, ...] = ("please", "thank", "welcome")) -> Score:
    """Share of the answer's sentences with a polite word."""
    sentences = [part for part in answer.split(".") if part.strip()]
    if not sentences:
        raise NotApplicable("the answer has no sentence")
    findings = tuple(
        Finding(part.strip(), "polite" if any(w in part.lower() for w in words) else "plain")
        for part in sentences
    )
    return Score(sum(f.verdict == "polite" for f in findings) / len(findings), findings=findings)


if __name__ == "__main__":
    answers = [
        {"id": "a", "question": "Returns?", "answer": "You are welcome. Returns take 30 days."},
        {"id": "b", "question": "Free shipping?", "answer": "No."},
        {"id": "c", "question": "Address?", "answer": ""},
    ]
    run = evaluate(answers, metrics=[polite], store=":memory:")
    for sample, scores in run.scores().items():
        score = scores["polite"]
        print(sample, score.value if score.ok else f"{score.outcome}: {score.reason}")
