"""The name that a folder of documents is about: the one that its documents write far more often than any other (`GnuCash`)."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from ragstone.data.documents import Document

MAX_DOCUMENTS_A_FOLDER = 40
MAX_DOCUMENTS = 2_000
"""Documents that are looked at: enough for the folders of a manual, and bounded for 10^5 documents."""
MAX_CHARS = 20_000
"""Characters of a document that are looked at."""
MAX_USES = 10
"""Uses in one document that count: a name of one page is not that of the folder."""
MIN_DOCUMENTS = 3
MIN_SHARE = 0.4
"""Share of a folder's documents that must write the name inside their sentences."""
MIN_USES = 1.5
"""Uses a document on average: what every page writes once is its frame."""
MIN_LEAD = 1.3
"""How many times as often as the next name it must be written."""
MAX_SMALL_USES = 0.5
"""How many times as often it may be written with a small letter, as a command is."""
_NAME = re.compile(
    r"[a-zñáéíóú,][ \n]`?([A-Z][a-z]+[\w-]*|[A-Z][\w-]*[a-z]\w*(?<![A-Z]s))(?=[^\w'’-])"
)
_NO_NAMES = frozenset({"Section", "Chapter", "Figure", "Table", "Example", "Note", "Manual", "Guide", "Sección", "Capítulo", "Figura", "Tabla", "Ejemplo", "Nota", "Guía"})  # fmt: skip
"""Words that manuals write large without being names."""


@dataclass(slots=True)
class FolderNames:
    """How often and in how many documents of each folder a name stands, and how often it is written small."""

    _uses: dict[str, Counter[str]] = field(default_factory=dict)
    _large: dict[str, Counter[str]] = field(default_factory=dict)
    _small: dict[str, Counter[str]] = field(default_factory=dict)
    _documents: Counter[str] = field(default_factory=Counter)
    _titles: Counter[int] = field(default_factory=Counter)
    """Hash of a folder and a title → its documents: a number takes less memory than both."""

    def add(self, document: Document) -> None:
        """Count the names of a document."""
        folder = document.id.rpartition("/")[0]
        self._titles[hash((folder, document.title))] += 1
        is_full = self._documents.total() >= MAX_DOCUMENTS
        if is_full or self._documents[folder] >= MAX_DOCUMENTS_A_FOLDER:
            return
        self._documents[folder] += 1
        text = document.text[:MAX_CHARS]
        names = Counter(_NAME.findall(text))
        words = Counter(re.findall(r"(?<![\w`/-])[a-zñáéíóú][\w-]+", text))
        capped = {name: min(count, MAX_USES) for name, count in names.items()}
        self._uses.setdefault(folder, Counter()).update(capped)
        self._large.setdefault(folder, Counter()).update(names.keys())
        small = {name: min(words[name.lower()], MAX_USES) for name in names}
        self._small.setdefault(folder, Counter()).update(small)

    def shares_title(self, document: Document) -> bool:
        """Whether another document of the same folder has the same title."""
        return self._titles[hash((document.id.rpartition("/")[0], document.title))] > 1

    def find_product(self, document_id: str) -> str:
        """The name of the folder that a document stands in; empty where none stands out."""
        folder = document_id.rpartition("/")[0]
        documents = self._documents[folder]
        large, small = self._large.get(folder, Counter()), self._small.get(folder, Counter())
        uses = self._uses.get(folder, Counter())
        # `khelpcenter/…`: a folder that is called by a name is about that, though it may write `KDE` as often
        called = folder.rpartition("/")[2].lower()
        own = (name for name in uses if name.lower() == called and name not in _NO_NAMES)
        if name := max(own, key=uses.__getitem__, default=""):
            return name
        names = [
            (name, count)
            for name, count in uses.most_common(20)
            if small[name] <= MAX_SMALL_USES * count and name not in _NO_NAMES
        ]
        if documents < MIN_DOCUMENTS:
            return ""
        (name, count), (_, next_count) = (*names, ("", 0), ("", 0))[:2]
        stands_out = count >= MIN_USES * documents and count >= MIN_LEAD * next_count
        return name if stands_out and large[name] >= MIN_SHARE * documents else ""
