"""Where the offline judge says yes; chosen on cross-validated predictions (evaluate.py shows the choice)."""

BARS = {
    "response_bar": 0.5,
    "bar": 0.3,
    "bar_doubtful": 0.5,
    "bar_weakest": 0.9,
    "bar_conflict": 0.8,
}
"""response_bar: a response below it holds a claim that is not supported.
bar, bar_doubtful: what a claim must reach in a response above and below it.
bar_weakest: what the weakest claim of a response below it must reach.
bar_conflict: what a claim must reach that disagrees in a number, name or negation."""
