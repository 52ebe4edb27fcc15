"""The gate: refuses a question or a reference that is doubtful in form. The corpus is searched later (proofs.py).

Functions named `explain_…` return why something is doubtful; the empty string means that it may pass."""

from __future__ import annotations

import re

from ragstone.testset.offline.grammar import Grammar
from ragstone.text.stopwords import STOPWORDS

MAX_QUESTION_WORDS = 22
MAX_REFERENCE_WORDS = 75
MAX_STEPS_WORDS = 260
"""Words of a reference that is a list of steps or a paragraph."""
MIN_SENTENCE_WORDS = 5
MAX_PHRASE_WORDS = 8
_CODE = re.compile(r"`[^`]*`")
_QUOTED = re.compile(r"“[^”]*”|«[^»]*»|\"[^\"]*\"")
_ODD_PHRASE = re.compile(
    r"(?:^| )[-–—/&] |[`.!?;:,]$|[a-zñ] (?:The|El|La|Los|Las) |^(?:Description|Descripción) |^\w+ing |mente\b"
)
"""A sign, a heading that ran into the sentence (`Descripción La orden`), a gerund or an adverb."""
_NEXT_ENTRY = re.compile(
    r"(?:[.;)]|^| [a-zñ]+) --?[a-zA-Z][\w-]*(?:[ =]\S+)? [A-ZÁÉÍÓÚÑ][a-zñáéíóú]"
)
"""An option with its text behind that of another: `… to stderr. -g group Specifies`."""
_CUT_END = re.compile(r"[,;:–—?-]\.?\s*$|\s[A-Z]\.$")
"""A phrase goes on, it asks, or the splitter took an initial (`X.`) for the end of the sentence."""
_CONTRACTION = re.compile(r"\w[’'](?:re|ll|ve|d|m|t)\b|\blet[’']s\b", re.IGNORECASE)
_JUNK = re.compile(r"[{}<>\\=|→↑↓¶©▾•*_#~]|://|\w\(\)|\.\.\.|…|\d\.\d+\.\d+\.|--|\s/|\S/\S+/|^\W+$")
"""Signs of code or markup in a question."""
_NOISE = re.compile(
    r"[{}\\|↑↓¶©▾•#~ÃÂ]|</?[a-z]+[ >/]|(?: — .*){3}|(?:^|[.:] )> |@\w+@|(?<!\w)\(\s*\)|(?<!\w)(?:\.\.\.|…)|(?:\.\.\.|…)$|\bTODO\b|\bFIXME\b|\[\^?[\w ./:-]*\]|[↗↘]|&\w+;|(?:Next|Up|Previous): [A-Z]|[Uu]pdated:? (?:\d|[A-Z][a-z]+ \d)|[Aa]ctualización:? \d|''|\b(?:[Ss]ee|[Vv]éase|[Vv]ea|[Cc]onsulte)(?:: | (?:this|este|esta) )|\. \d{1,2}\.$"
    r"|(?:^|[;.] )(?:Next|Prev(?:ious)?|Up|Home|Siguiente|Anterior|Subir|Inicio)\s*(?=[;.\d]|$)|^(\w+(?: \w+){1,4}) \1\b"
    r"|[a-zñáéíóú] (?:The|El|La|Los|Las|This|Est[ea]) [a-zñáéíóú]|^\d{2,4} [A-ZÁÉÍÓÚÑ]|(?<!\.\w)(?<!etc)\. [a-zñáéíóú]{2}"
)
"""Signs of code or markup that even a reference may not have; links of navigation, captions and numbers of paragraphs that ran
into the text; a sentence whose beginning is lost."""
_LAYOUT = re.compile(
    r"\b(?:this (?:\w+ )?(?:page|section|chapter|topic)|est[ae] (?:página|sección|capítulo|tema)|above|below|following|(?:next|previous|last) (?:section|chapter|page|step)|(?:on|in) (?:a separate|another) (?:page|section|chapter)|en (?:otra|una) (?:página|sección)(?: separada| aparte)?|(?:screenshot|captura|(?:image|picture|figure)s? on)|(?:las? )(?:siguientes? )?(?:im[aá]gen(?:es)?|figuras?)|we (?:will|shall|now) (?:describe|discuss|explain|show|look)|here(?=[.,;)])|aquí(?=[.,;)])|arriba|abajo|anteriormente|más adelante|a continuación|siguientes?:|(?:sección|capítulo|página|paso) (?:anterior|siguiente)|siguiente (?:sección|capítulo|página))\b",
    re.IGNORECASE,
)
"""Words that point at another place of the page."""
_PAIRS = (("(", ")"), ("[", "]"), ("“", "”"), ("«", "»"))
_OPEN_ENDS = frozenset({"and", "or", "but", "that", "which", "its", "their", "your", "y", "o", "que", "de", "del", "su", "sus"})  # fmt: skip
"""Words that no question ends with, articles apart."""
# stop words of the other language alone
_FOREIGN = {"en": STOPWORDS["es"] - STOPWORDS["en"], "es": STOPWORDS["en"] - STOPWORDS["es"]}
_WORD = re.compile(r"[^\W\d_]+")


def explain_doubt(question: str, reference: str, grammar: Grammar, *, owned: bool = False) -> str:
    """Why the pair is doubtful; empty when it may pass. `owned`: the document has an owner, whom the question names,
    so that `we` in the reference is clear."""
    return explain_doubtful_question(question, grammar) or explain_doubtful_reference(
        reference, grammar, owned=owned
    )


def explain_doubtful_question(question: str, grammar: Grammar) -> str:
    """Why a question is doubtful; empty when it may pass."""
    # what stands in code or quotes is not judged as language
    bare = _QUOTED.sub("“x”", _CODE.sub("`x`", question))
    words = bare.split()
    if not 3 <= len(words) <= MAX_QUESTION_WORDS or not question.endswith("?"):
        return "too short, too long or no question"
    if _is_unbalanced(question) or question.count("`") % 2 or _has_glued_code(question):
        return "a bracket or quote is open"
    # words such as `this` need a text that whoever answers does not see
    if pointer := grammar.question_pointers.search(bare):
        return f"{pointer[0]!r} points at something outside"
    if _CONTRACTION.search(bare):
        return "a contraction"
    if _JUNK.search(bare.replace("`x`", "x")):
        return "code outside of backticks"
    if words[-1].rstrip("?").lower() in grammar.articles | _OPEN_ENDS:
        return "ends in mid-phrase"
    return "" if has_language(question, grammar, least=1) else "another language"


def explain_doubtful_reference(reference: str, grammar: Grammar, *, owned: bool = False) -> str:
    """Why a reference is doubtful; empty when it may pass."""
    if doubt := explain_cut(reference, grammar, MAX_REFERENCE_WORDS):
        return doubt
    bare = _CODE.sub("x", reference)
    if grammar.leaning_start.match(bare.lstrip('(“«"')):
        return "begins in the middle of a thought"
    if not owned and grammar.first_person.search(bare):
        return "we, without who that is"
    if pointer := grammar.reference_pointers.search(_QUOTED.sub("x", bare)):
        return f"{pointer[0]!r} points at something outside"
    return ""


def explain_cut(reference: str, grammar: Grammar, max_words: int = MAX_STEPS_WORDS) -> str:
    """Why a whole paragraph or list of steps is no reference: cut, noise, or it points to another place of the page.

    Its sentences may point to each other, so that pronouns are not looked at."""
    bare = _CODE.sub("x", reference)
    words = bare.split()
    if not words or len(words) > max_words:
        return "empty or too long"
    if _is_noisy(reference):
        return "a bracket or quote is open, or code outside of backticks"
    if words[-1].strip(".,;:").lower() in grammar.dangling_end or _CUT_END.search(bare):
        return "cut in mid-phrase"
    if _NEXT_ENTRY.search(reference):
        return "runs into the next entry"
    if pointer := _LAYOUT.search(bare):
        return f"{pointer[0]!r} points at another place"
    sentences = [part for part in reference.split(". ") if len(part.split()) > MIN_SENTENCE_WORDS]
    is_own = all(has_language(text, grammar) for text in (reference, *sentences))
    return "" if is_own else "another language"


def _is_noisy(reference: str) -> bool:
    """Whether a reference has signs of code, markup or layout, or begins with the end of a sentence."""
    bare = _CODE.sub("x", reference)
    is_open = _is_unbalanced(reference) or reference.count("`") % 2 or _has_glued_code(reference)
    return bool(is_open or _NOISE.search(bare) or re.match(r"`[^`]*`[.,;:]", reference))


def drop_code(text: str) -> str:
    """A text without its spans of code."""
    return _CODE.sub("", text)


def is_sentence(text: str, grammar: Grammar) -> bool:
    """Whether a text is one whole sentence: it starts large, ends with a full stop and leans on nothing before it."""
    first = re.match(r"[^\W\d_]+", text)
    if not re.match(r"[A-ZÁÉÍÓÚÑ`¿«“\"]", text) or not re.search(r"[^.]\.[)”»\"]?$", text):
        return False
    is_reader = re.match(r"You (?:can|may|must|have)\b", text)  # whoever asks is the one spoken to
    if first and first[0].lower() in grammar.bad_starts and not is_reader:
        return False
    return len(text.split()) >= MIN_SENTENCE_WORDS


def is_noun_phrase(phrase: str, grammar: Grammar) -> bool:
    """Whether a phrase is a simple noun phrase: a few words without a sign, whose only small words are prepositions and
    articles behind them (`owner of the file`)."""
    tokens = _CODE.sub("x", phrase).split()
    if not 0 < len(tokens) <= MAX_PHRASE_WORDS or _ODD_PHRASE.search(" ".join(tokens)):
        return False
    # a capital inside makes a word part of a name, whatever it means (`Puente Nuevo`)
    words = [re.sub(r"\W", "", token) for token in tokens]
    words[0] = words[0].lower()
    inner = words[1:] if words[0] in grammar.articles else words
    links, small = grammar.links, grammar.closed_words | grammar.articles
    if not inner or inner[0] in links or inner[-1] in links:
        return False
    return all(
        word not in small or word in links or (word in grammar.articles and before in links)
        for before, word in zip(["", *inner], inner, strict=False)
    )


def is_specific(phrase: str) -> bool:
    """Whether a phrase names one thing by code, quote, acronym or capital, not only by a common noun."""
    quoted = _QUOTED.search(phrase)
    if "`" in phrase or (quoted and len(quoted[0]) > 4):
        return True
    return any(
        (len(word) > 1 and re.search(r"[A-ZÁÉÍÓÚÑ]", word if at else word[1:]))
        or re.search(r"\w[._/]\w|\w-\w+-\w|\d", word)
        for at, word in enumerate(phrase.split())
    )


def has_language(text: str, grammar: Grammar, least: int = 0) -> bool:
    """Whether the stop words of a text are those of the language, and at least `least` of them."""
    words = [word.lower() for word in _WORD.findall(_CODE.sub("", text))]
    known = sum(word in STOPWORDS[grammar.language] for word in words)
    foreign = sum(word in _FOREIGN[grammar.language] for word in words)
    return known >= least and foreign <= known // 2 and not (len(words) > 6 and known == 0)


def _has_glued_code(text: str) -> bool:
    """Whether a span of code has no blanks around it: the marks of the document are not what they seem."""
    marked = _CODE.sub(lambda code: "\0" if code[0][1:2] != " " else "x\0", text)
    return re.search(r"\w\0|\0\w", marked) is not None


def _is_unbalanced(text: str) -> bool:
    bare = _CODE.sub("", text)
    odd = bare.count('"') % 2 == 1
    return odd or any(bare.count(opening) != bare.count(closing) for opening, closing in _PAIRS)
