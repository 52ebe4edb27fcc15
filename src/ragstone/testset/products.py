"""What documents are about: the name that those of a folder write far more often than any other (`GnuCash`), and the product of a page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass, field

from ragstone.data.documents import Document
from ragstone.testset.outline import DOCUMENT_WORDS
from ragstone.text.clause_words import to_word_set

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
MIN_NAMED = 3
"""Uses from which a folder may be called by a name."""
MIN_LEAD = 1.3
"""How many times as often as the next name it must be written."""
MAX_SMALL_USES = 0.5
"""How many times as often it may be written with a small letter, as a command is."""
_NAME = re.compile(
    r"[a-zñáéíóú,][ \n]`?([A-Z][a-z]+[\w-]*|[A-Z][\w-]*[a-z]\w*(?<![A-Z]s))(?=[^\w'’-])"
)
_NO_NAMES = frozenset({"Section", "Chapter", "Figure", "Table", "Example", "Note", "Manual", "Guide", "Sección", "Capítulo", "Figura", "Tabla", "Ejemplo", "Nota", "Guía"})  # fmt: skip
"""Words that manuals write large without being names."""

_MANUAL_OF = re.compile(
    r"(?:^|[—–|-] )(?P<name>(?:GNU )?[A-Z][\w+.-]*(?: (?!(?i:documentation|manual|help|handbook|user|guide)\b)[\w+.-]*[A-Z][\w+.-]*){0,3})(?: v?\d\S*)? (?i:documentation|manual|help|handbook|user(?:’s|'s)? guide)\b"
    r"|^(?i:ayuda|manual|guía|documentación|referencia)(?: [a-zñáéíóú]+){0,4} (?:del?|para) (?P<nombre>(?:GNU )?[A-Z][\w+.-]*)",
    re.MULTILINE,
)
"""`Flask documentation`, `Manual de GNU LilyPond`: a title, or the first lines of a page, that say whose manual it is."""
_SITE_OF = re.compile(r" [—–|-] ([A-Za-z][\w+.-]{2,})(?: [v\d?]\S*)? documentation$")
"""`Wordlists — diceware 0.10 documentation`: the title of a page of Sphinx, whatever its letters."""
_NO_PRODUCTS = DOCUMENT_WORDS | to_word_set(
    "up next previous home top index contents inicio arriba anterior siguiente índice contenido this command menu user online quick el la los las handbook options requirements purpose opciones "
    "file edit view settings preferences tools help window archivo editar ver preferencias configuración herramientas ayuda ventana"
)
"""Words of navigation, of menus and for documents."""
_ARTICLES = "the|an?|your|our|this|el|la|los|las|un|una|su|tu|este|esta"
MIN_WRITTEN, MAX_ARTICLES = 3, 0.3
"""Uses of a word in a document from which it may be a name, and the share of them that may have an article."""


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
        own = (
            name
            for name in uses
            # `written/`: a word that is written large now and then is no name
            if name.lower() == called and name not in _NO_NAMES and uses[name] >= MIN_NAMED
        )  # fmt: skip
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


def find_product(
    text: str,
    opening: str,
    folder: str,
    folder_product: str,
    names: Container[str],
    *,
    is_prose: bool,
) -> str:
    """The name that the folder is called by, whose manual the page says it is, or that its folder is about."""
    folder_product = "" if folder_product.lower() in _NO_PRODUCTS else folder_product
    if folder_product and folder_product.lower() == folder.lower():
        return folder_product
    called = _find_called(text, folder)
    # `security/`: a noun, where no code shows that it is a program
    if called and not (is_prose and called.islower()):
        return called
    if name := _find_manual(opening, names):
        return name
    is_named = folder_product in opening and not _is_part_of_name(folder_product, text)
    return folder_product if folder_product and is_named else ""


def _find_manual(opening: str, names: Container[str]) -> str:
    """Whose manual a page says it is, in its title or first lines; empty where it does not say."""
    if site := _SITE_OF.search(opening.split("\n", 1)[0]):
        return site[1]
    manuals = (manual["name"] or manual["nombre"] for manual in _MANUAL_OF.finditer(opening))
    # `Operating manual`: what the page itself does not write as a name is none
    told = (name for name in manuals if name.lower() not in _NO_PRODUCTS and any(word in names for word in name.lower().split()))  # fmt: skip
    return next(told, "")


def _find_called(text: str, folder: str) -> str:
    """The name of a folder, or the beginning of it (`gparted-common`), as its document writes it, where it writes it as a
    name: again and again, and without an article."""
    parts = re.split(r"[-_]", folder)
    if parts[0].rstrip("0123456789").lower() not in text.lower():
        return ""  # most folders: the search below takes much longer
    whole = ""
    for end in range(len(parts), 0, -1):
        uses, called = _count_written(text, parts[:end])
        whole = whole or called
        # of a part nobody knows that it is a name, unless it is written as one
        is_whole = end == len(parts)
        # a house of several words that is called by them is named seldom
        least = 1 if is_whole and end > 1 and called.istitle() else MIN_WRITTEN
        if uses >= least and (is_whole or not called.islower()):
            return whole  # `Front-End Checklist`, though it is mostly called Front-End
    return ""


def _count_written(text: str, parts: Sequence[str]) -> tuple[int, str]:
    """How often a text writes a name of several parts, and how; never, for one that mostly has an article."""
    if len("".join(parts)) < 3 or "-".join(parts).lower() in _NO_PRODUCTS:
        return 0, ""
    name = "[- _]".join(re.escape(part.rstrip("0123456789") or part) for part in parts)
    uses = re.findall(rf"(?:\b({_ARTICLES}) )?(?<![\w/.@`-])({name})(?![\w/`-]|\.\w)", text, re.IGNORECASE)  # fmt: skip
    with_article = sum(bool(article) for article, _ in uses)
    if not uses:
        return 0, ""
    is_noun = MAX_ARTICLES * len(uses) < with_article
    return 0 if is_noun else len(uses), str(Counter(name for _, name in uses).most_common(1)[0][0])


def _is_part_of_name(name: str, text: str) -> bool:
    """Whether a word mostly stands beside other capitals (KDE Partition Manager), or is a noun (`Gestor de particiones`)."""
    capital = r"[A-ZÁÉÍÓÚÑ][\w-]+"
    word = re.escape(name)
    parts = re.findall(rf"{capital} {word}\b|\b{word} (?:(?:of|de|del) )?{capital}|\b{word} (?:of|de|del) ", text)  # fmt: skip
    return 3 * len(parts) > len(re.findall(rf"\b{word}\b", text))
