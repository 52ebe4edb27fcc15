"""Run plans: evaluate, answer, bench, ablate, tune and blame. Everything here executes something; the arithmetic is in `analysis`."""
