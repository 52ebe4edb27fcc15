"""Models that run in this process: GGUF files, causal models of transformers, classifiers of pairs of texts."""
