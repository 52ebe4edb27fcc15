"""Samples in memory, a table, and what became of one sample."""

from ragstone import Chunk, Ranked, Sample, evaluate

RETURNS = Chunk("returns", "Items can be returned within 30 days.")
SHIPPING = Chunk("shipping", "Shipping is free.")

samples = [
    Sample(
        "q1",
        question="How long can I return an item?",
        answer="30 days",
        contexts=Ranked([RETURNS, SHIPPING]),
        reference="30 days",
        relevant={"returns": 1},
    ),
    Sample(
        "q2",
        question="What does shipping cost?",
        answer="Shipping costs 5 euros",
        contexts=Ranked([RETURNS, SHIPPING]),
        reference="Shipping is free",
        relevant={"shipping": 1},
    ),
    Sample("q3", question="Where is the shop?", answer="In Porto", contexts=Ranked()),
]

run = evaluate(samples, metrics=["recall@1", "mrr", "token_f1"], name="shop", store=":memory:")
print(run)

score = run.scores()["q3"]["token_f1"]
print(f"q3: {score.outcome}, because {score.reason}")
