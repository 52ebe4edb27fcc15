"""Drift detection: statistical tests that compare live scores and questions with a reference period."""
