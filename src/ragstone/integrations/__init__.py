"""ragstone where people already are: a guard in the request path, tools for assistants, scorers of platforms."""
