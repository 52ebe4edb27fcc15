"""The pipeline as a system: its parameters, checked, and the way from a question to a reply."""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from importlib import resources
from pathlib import Path
from typing import Any

from ragstone.asks import digest
from ragstone.data import corpora
from ragstone.data.documents import Document, read_documents
from ragstone.errors import RagstoneError, nearest
from ragstone.systems.frameworks import filled_in
from ragstone.systems.http import HttpSystem
from ragstone.systems.pipeline.answering import Passage, extract
from ragstone.systems.pipeline.chunking import By, pieces
from ragstone.systems.pipeline.retrieval import Index, Retriever
from ragstone.systems.protocol import SystemReply
from ragstone.text.encoder import track_saved_seconds
from ragstone.text.language import detect_language
from ragstone.types import Chunk, Ranked, Sample

EDITION = 2
"""Counts changes of the code that change replies, so that stored ones of earlier code are not taken for new ones."""

SPACE: Mapping[str, tuple[Any, ...]] = {
    "chunk_size": (40, 80, 120, 200, 300),
    "overlap": (0, 20, 40),
    "by": ("sentence", "heading", "words"),
    "titles": (True, False),
    "retriever": ("bm25", "dense", "hybrid"),
    "top_k": (1, 3, 5, 8, 12),
    "rerank": (False, True),
    "expand": (False, True),
    "sentences": (1, 2),
    "abstain": (0.5, 0.7, 0.9),
    "temperature": (0.0, 0.3, 0.7, 1.0),
}
"""Sensible values of each parameter to try."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be set."""

    documents: str | Path = corpora.DEFAULT
    """A folder, a file, or the name of a built-in corpus."""
    chunk_size: int = 120
    """Words of a chunk."""
    overlap: int = 20
    """Words that a chunk shares with the one before."""
    by: By = "sentence"
    titles: bool = True
    """Whether the title of the document stands above each chunk."""
    retriever: Retriever = "bm25"
    top_k: int = 5
    rerank: bool = False
    pool: int = 30
    """Chunks that are looked at again when reranking."""
    expand: bool = False
    """Whether the question is widened by what a first search finds."""
    sentences: int = 1
    """Sentences of an extracted answer, each from another chunk."""
    abstain: float = 0.7
    """The score that a sentence must reach to be an answer, of about 2; 0 never abstains."""
    generator: str | None = None
    """Base URL of an OpenAI-compatible server that writes the answers; none: they are extracted."""
    model: str | None = None
    api_key: str | None = None
    """`${NAME}` of the environment variable with the generator's key."""
    prompt: str | Path | None = None
    """A file with {question} and {contexts}; none: the built-in one of the question's language."""
    temperature: float = 0.0
    max_tokens: int = 300


_OTHER_NAMES = {"retrieval_k": "top_k"}
_NOT_TUNED = frozenset({"documents", "generator", "model", "api_key", "prompt", "max_tokens"})


class Pipeline:
    """Retrieves chunks of its documents for a question and answers from them."""

    concurrency = 8
    takes_contexts = True

    def __init__(self, **parameters: Any) -> None:
        self.settings = _settings(parameters)
        documents, self._content = _read(self.settings.documents)
        self.index = _indexed(documents, self._content, self.settings)
        self._generator = _generator(self.settings)
        self.name = "pipeline"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """What can be tuned; the temperature only with a generator, extraction's own only without."""
        idle = {"sentences", "abstain"} if self._generator else {"temperature"}
        return {
            one.name: getattr(self.settings, one.name)
            for one in fields(self.settings)
            if one.name not in _NOT_TUNED | idle
        }

    def identity(self) -> Mapping[str, Any]:
        """Parameters, the content of the documents and of the prompt, the generator, and whose class it is."""
        settings = self.settings
        written: dict[str, Any] = {}
        if self._generator is not None:
            prompts = {language: self._prompt(language) for language in ("en", "es")}
            written = {
                "generator": settings.generator,
                "model": settings.model,
                "prompts": digest(prompts),
                "max_tokens": settings.max_tokens,
            }
        kind = type(self)
        if kind is not Pipeline:  # a user's own, which may answer otherwise
            written["class"] = f"{kind.__module__}.{kind.__qualname__}"
        return {
            "pipeline": EDITION,
            "documents": self._content,
            "parameters": dict(self.parameters),
            **written,
        }

    def shown(self, sample: Sample) -> Mapping[str, Any]:
        """The language, which chooses stemmer, prompt and abstention."""
        return {"language": sample.language}

    async def answer(self, question: str, sample: Sample) -> SystemReply:
        """Chunks found for the question, and the answer from them.

        Its latency is that of a question that comes alone: the index is there, other questions' vectors are not."""
        self.index.prepare(self.settings.retriever)
        with track_saved_seconds() as spared:
            started = time.perf_counter()
            passages, contexts = self.retrieve(question, sample.language)
            language = detect_language(question, sample.language)
            reply = await self._reply(question, language, passages, contexts, started)
        assert reply.latency is not None
        return replace(reply, latency=round(reply.latency + spared.seconds, 6))

    def retrieve(self, question: str, language: str | None = None) -> tuple[list[Passage], Ranked]:
        """The best chunks for a question: as passages to answer from, and as ranked contexts."""
        settings = self.settings
        found = self.index.search(
            question,
            detect_language(question, language),
            retriever=settings.retriever,
            top_k=settings.top_k,
            rerank=settings.rerank,
            pool=settings.pool,
            expand=settings.expand,
        )
        chosen = [self.index.pieces[at] for at, _ in found]
        contexts = Ranked(
            Chunk(piece.document, piece.shown, round(score, 6))
            for piece, (_, score) in zip(chosen, found, strict=True)
        )
        return [Passage(piece.text, piece.title) for piece in chosen], contexts

    async def answer_with(
        self, question: str, contexts: Ranked, sample: Sample | None = None
    ) -> SystemReply:
        """The answer from these contexts alone."""
        started = time.perf_counter()
        language = detect_language(question, sample.language if sample is not None else None)
        passages = [Passage(chunk.text) for chunk in contexts]
        return await self._reply(question, language, passages, contexts, started)

    async def close(self) -> None:
        """Close the generator's connections."""
        if self._generator is not None:
            await self._generator.close()

    async def _reply(
        self,
        question: str,
        language: str,
        passages: list[Passage],
        contexts: Ranked,
        started: float,
    ) -> SystemReply:
        tokens = None
        if self._generator is None:
            text: str | None = extract(
                question,
                passages,
                self.index,
                language=language,
                most=self.settings.sentences,
                abstain=self.settings.abstain,
            )
        else:
            numbered = "\n\n".join(f"[{n}] {chunk.text}" for n, chunk in enumerate(contexts, 1))
            values = {"question": question, "contexts": numbered}
            written = await self._generator.answer(
                filled_in(self._prompt(language), values), Sample("")
            )
            text, tokens = (written.answer or "").strip(), written.tokens
        return SystemReply(text, contexts, round(time.perf_counter() - started, 6), tokens)

    def _prompt(self, language: str) -> str:
        if self.settings.prompt is not None:
            return _user_prompt(Path(self.settings.prompt))
        place = resources.files("ragstone.systems.pipeline") / "prompts" / f"{language}.md"
        return place.read_text(encoding="utf-8")


def _settings(given: Mapping[str, Any]) -> Settings:
    known = {one.name: one for one in fields(Settings)}
    values: dict[str, Any] = {}
    for key, value in given.items():
        name = _OTHER_NAMES.get(key, key)
        if name not in known:
            raise RagstoneError(f"the pipeline has no parameter {key!r}{nearest(key, list(known))}")
        values[name] = value
    settings = Settings(**values)
    complaint = _complaint(settings)
    if complaint:
        raise RagstoneError(f"the pipeline's {complaint}")
    return settings


_CHOICES = {"by": ("sentence", "heading", "words"), "retriever": ("bm25", "dense", "hybrid")}
_LEAST = {"chunk_size": 5, "overlap": 0, "top_k": 1, "pool": 1, "sentences": 1, "max_tokens": 1}


def _complaint(settings: Settings) -> str | None:
    for name, choices in _CHOICES.items():
        if getattr(settings, name) not in choices:
            return f"{name} is {getattr(settings, name)!r}; give one of {', '.join(choices)}"
    for name, least in _LEAST.items():
        value = getattr(settings, name)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            return f"{name} is {value!r}; give a whole number from {least}"
    for name in ("titles", "rerank", "expand"):
        if not isinstance(getattr(settings, name), bool):
            return f"{name} is {getattr(settings, name)!r}; give true or false"
    for name in ("abstain", "temperature"):
        value = getattr(settings, name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 5:
            return f"{name} is {value!r}; give a number from 0"
    if settings.overlap >= settings.chunk_size:
        return (
            f"overlap {settings.overlap} is not smaller than its chunk_size {settings.chunk_size}"
        )
    if settings.generator is not None and not settings.model:
        return "generator is given without a model; name one"
    return None


def _generator(settings: Settings) -> HttpSystem | None:
    if settings.generator is None:
        return None
    if settings.api_key is not None and not settings.api_key.startswith("${"):
        raise RagstoneError("api_key is written out; keep it in the environment and write ${NAME}")
    body = {
        "model": settings.model,
        "temperature": settings.temperature,
        "max_tokens": settings.max_tokens,
        "messages": [{"role": "user", "content": "{question}"}],
    }
    headers = {"Authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}
    return HttpSystem(
        settings.generator.rstrip("/") + "/chat/completions",
        body=body,
        headers=headers,
        answer="choices.0.message.content",
        tokens="usage.total_tokens",
    )


def _user_prompt(path: Path) -> str:
    if not path.is_file():
        raise RagstoneError(f"no prompt file {str(path)!r}")
    text = path.read_text(encoding="utf-8")
    for name in ("{question}", "{contexts}"):
        if name not in text:
            raise RagstoneError(f"the prompt {str(path)!r} lacks {name}; say where it goes")
    return text


_indexes: OrderedDict[str, Index] = OrderedDict()
_KEPT = 8
"""Indexes kept: configurations that differ after chunking share one."""


def _indexed(documents: list[Document], content: str, settings: Settings) -> Index:
    how = {
        "size": settings.chunk_size,
        "overlap": settings.overlap,
        "by": settings.by,
        "titles": settings.titles,
    }
    key = digest({"documents": content, **how})
    if key not in _indexes:
        _indexes[key] = Index(pieces(documents, **how))  # type: ignore[arg-type]
        while len(_indexes) > _KEPT:
            _indexes.popitem(last=False)
    return _indexes[key]


def _read(place: str | Path) -> tuple[list[Document], str]:
    """The documents and a hash of their content."""
    named = str(place) in corpora.CORPORA and not Path(place).exists()
    documents = read_documents(corpora.documents(str(place)) if named else place)
    content = hashlib.sha256()
    for document in documents:
        content.update(repr((document.id, document.title, document.text)).encode())
    return documents, content.hexdigest()
