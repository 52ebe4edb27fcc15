"""The words of every report and message, by language: TOML files that a translator edits, and the code that reads them."""
