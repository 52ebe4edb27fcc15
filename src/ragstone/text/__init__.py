"""Reading text: languages, sentences, stems, quoted evidence and sentence embeddings."""
