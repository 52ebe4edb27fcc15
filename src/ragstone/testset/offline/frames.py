"""How a question names the home of its fact: the owner, the title of the document, the product or the manual page."""

from __future__ import annotations

import re

from ragstone.testset.offline.page import Page
from ragstone.testset.outline import find_owner
from ragstone.testset.question_terms import extract_content_stems

NAMED_SHARE = 0.6
"""Share of the words of a title from which a question names its page already."""
MIN_TITLE_STEMS = 3
"""Words of meaning by which a title without a name tells which page it is: `Conditions of tenancy for students`."""
_DOCUMENT_SORT = re.compile(
    r"\b(?:polic(?:y|ies)|rules|regulations|terms|conditions|contract|agreement|handbook|manual|guide(?:lines)?|leaflet|notice|charter|statutes|code|conduct|plan|procedures?|prices?|fees|rates|faq|questions|information"
    r"|políticas?|reglas|reglamento|normas?|normativa|condiciones|términos|contrato|acuerdo|manual|guía|folleto|aviso|carta|estatutos|código|conducta|plan|procedimientos?|protocolo|precios|tarifas|preguntas|información)\b",
    re.IGNORECASE,
)
"""Words of a title that say what sort of document it is."""
_README = re.compile(r"(?:^|/)README\b[^/]*$", re.IGNORECASE)
_FRAME = re.compile(
    r"(?:(?:According to|Según) (?:[^“«,]*(?:“[^”]*”|«[^»]*»))?[^,“«]*(?:, de la documentación de [^,]+)?|(?:At|In|En) [^,¿]+), (?=¿|\w)"
)
"""What frame_home puts before a question."""


def name_home(page: Page) -> str:
    """The document as a question speaks of it: “Returns and refunds”, the manual page of `ls`; empty where it has no name."""
    templates = page.grammar.templates
    if page.command:
        return templates["home_manual"].format(page.command)
    if _README.search(page.document.id) and (name := _find_readme_name(page)):
        return templates["home_readme"].format(name)
    title = templates["quote"].format(re.sub("[“”«»]", "", page.title))
    if page.product and page.title and page.product.lower() not in page.title.lower():
        # a house has no documentation
        is_house = page.is_prose and not page.is_program
        return f"{title} ({page.product})" if is_house else templates["home_part"].format(title=title, product=page.product)  # fmt: skip
    if page.site and page.title and not _has_name(page):
        return f"{title} ({page.site})"
    return title if page.has_telling_title and (_has_name(page) or _is_known(page)) else ""


def _is_known(page: Page) -> bool:
    """Whether a title without a name tells enough: `Working time` does in its house, `Colour schemes` of a program does not."""
    is_long = len(extract_content_stems(page.title, page.grammar.language)) >= MIN_TITLE_STEMS
    # `Code of Conduct`: whose?
    is_bare = not extract_content_stems(_DOCUMENT_SORT.sub("", page.title), page.grammar.language)
    is_sort = not is_bare and _DOCUMENT_SORT.search(page.title) is not None
    return page.is_prose and not is_bare and (is_long or not page.is_program or is_sort)


def _find_readme_name(page: Page) -> str:
    """What a README is about, by the product or a title that is a single name (`@scope/tool`); empty where neither tells."""
    is_name = re.fullmatch(r"`?@?[\w./-]{3,40}`?", page.title) and " " not in page.title
    return page.title.strip("`") if is_name else page.product if not page.title else ""


def _has_name(page: Page) -> bool:
    """Whether the title has a name, by which it is known what the page belongs to."""
    # `API` is none, nor is `Code of Conduct`, however it is written
    words = [word for word in page.title.split() if not re.fullmatch(r"[A-Z]{2,4}s?", word) and not _DOCUMENT_SORT.fullmatch(word)]  # fmt: skip
    is_named = any(
        word.lower() in page.names or re.search(r"\d|[a-z][A-Z]", word) for word in words
    )
    return is_named or bool(find_owner(page.title))


def frame_home(page: Page, question: str) -> str:
    """The question with the owner or the name of its page, or as it is where it has that name; empty where the page gives none."""
    templates = page.grammar.templates
    if page.owner:
        is_owned = page.owner in question
        return question if is_owned else _put_frame(templates["frame_at"], page.owner, question)
    home = name_home(page)
    is_named = bool(page.product) and page.product.lower() in question.lower()
    if home and not is_named and not _names_title(page, question):
        return _put_frame(templates["frame_page"], home, question)
    # what names the title needs the product alone
    if is_named or not page.product:
        return question if home or page.product else ""
    return _put_frame(templates["frame_in"], page.product, question)


def drop_frame(question: str) -> str:
    """The question without the owner, tool or page that stands before it."""
    return _FRAME.sub("", question, count=1)


def _names_title(page: Page, question: str) -> bool:
    """Whether a question has most words of the title of its page."""
    stems = set(extract_content_stems(page.title, page.grammar.language))
    named = stems.intersection(extract_content_stems(question, page.grammar.language))
    return bool(named) and len(named) >= NAMED_SHARE * len(stems)


def _put_frame(frame: str, owner: str, question: str) -> str:
    at = int(question[:1] == "¿")  # where its first letter stands
    is_me = question[at:].startswith("I ")
    small = question if is_me else question[:at] + question[at : at + 1].lower() + question[at + 1 :]  # fmt: skip
    return frame.format(owner=owner, question=small)
