"""For CI: gates, a report and an exit code. (`ragstone eval --gate … -o …` does the same.)"""

import sys

from ragstone import evaluate, report

samples = [
    {"id": str(n), "answer": "30 days", "reference": "30 days" if n % 20 else "two weeks"}
    for n in range(200)
]
run = evaluate(samples, metrics=["exact_match"], gates={"exact_match": ">= 0.9"}, store=":memory:")
report.write(run, "report.html")
for gate in run.summary().gates:
    print("passed" if gate.passed else "missed", "–", gate.sentence)
sys.exit(run.summary().exit_code)
