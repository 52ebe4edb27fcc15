"""Questions without any LLM: facts read from sentences by rule, asked in English and Spanish."""
