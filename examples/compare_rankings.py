"""Two retrievers over the same queries, from lists and dicts as a program holds them."""

from ragstone import score_rankings

relevant = {"q1": {"d1": 2, "d4": 1}, "q2": {"d7": 1}, "q3": {"d2": 1}}
lexical = {"q1": ["d4", "d9", "d1"], "q2": ["d3", "d7"], "q3": ["d8"]}
dense = {"q1": {"d1": 0.91, "d4": 0.87}, "q2": {"d7": 0.80}, "q3": {"d5": 0.7, "d2": 0.6}}

for name, rankings in (("lexical", lexical), ("dense", dense)):
    scores = score_rankings(rankings, relevant, ["recall@3", "mrr", "ndcg@3"])
    print(name, {metric: round(mean, 3) for metric, mean in scores.means().items()})
