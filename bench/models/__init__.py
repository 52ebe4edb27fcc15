"""Parts of `bench.real_models`: rows, routes, the meter of tokens, the report."""
