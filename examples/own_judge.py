"""A function as a judge, and the evidence behind a score."""

from typing import Any

from ragstone import evaluate
from ragstone.asks import Ask


def judge(ask: Ask) -> dict[str, Any]:
    """Every sentence is a claim; a claim is supported when a chunk holds it word for word."""
    if ask.kind == "claims":
        return {
            "claims": [
                {"text_id": text["id"], "sentence": number, "claim": sentence}
                for text in ask.values["texts"]
                for number, sentence in enumerate(text["sentences"])
            ]
        }
    if ask.kind == "support":
        cases = ask.values["cases"]
        return {"verdicts": [_verdict(claim, c["sources"]) for c in cases for claim in c["claims"]]}
    raise NotImplementedError(f"this judge cannot answer {ask.kind!r}")


def _verdict(claim: dict[str, str], sources: list[dict[str, str]]) -> dict[str, Any]:
    wanted = claim["text"].rstrip(".")
    evidence = [{"source": s["id"], "quote": wanted} for s in sources if wanted in s["text"]]
    return {
        "id": claim["id"],
        "verdict": "supported" if evidence else "not_found",
        "evidence": evidence,
        "reason": "" if evidence else "no chunk says so",
    }


if __name__ == "__main__":
    sample = {
        "answer": "Shipping is free. Returns are free.",
        "contexts": [{"id": "faq", "text": "Shipping is free. Returns take 30 days."}],
    }
    run = evaluate([sample], metrics=["faithfulness"], judge=judge, store=":memory:")
    score = run.scores()["1"]["faithfulness"]
    print(f"faithfulness {score.value}")
    for finding in score.findings:
        print(f"  {finding.verdict}: {finding.text} {finding.quote and f'({finding.chunk})'}")
