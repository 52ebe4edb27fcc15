"""The built-in reference pipeline as a system under test: settings, their validation, and how a reply is made."""

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
from ragstone.errors import RagstoneError, suggest_nearest
from ragstone.systems.http import HttpSystem
from ragstone.systems.pipeline.chunking import ChunkUnit, chunk_documents
from ragstone.systems.pipeline.extraction import Passage, extract_answer
from ragstone.systems.pipeline.retrieval import Index, Retriever
from ragstone.systems.protocol import SystemReply
from ragstone.systems.templates import fill_template
from ragstone.text.encoder import track_saved_seconds
from ragstone.text.language import detect_language
from ragstone.types import Chunk, Ranked, Sample

REPLY_VERSION = 2
"""Increased with each change of the code that changes replies, so that stored replies of older code are not reused."""

SEARCH_SPACE: Mapping[str, tuple[Any, ...]] = {
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
"""Values of each parameter for tuning."""


@dataclass(frozen=True, slots=True)
class PipelineSettings:
    """The parameters of the pipeline."""

    documents: str | Path = corpora.DEFAULT
    """A folder, a file, or the name of a built-in corpus."""
    chunk_size: int = 120
    """Words of a chunk."""
    overlap: int = 20
    """Words that a chunk shares with the one before."""
    by: ChunkUnit = "sentence"
    titles: bool = True
    """Whether the title of the document stands above each chunk."""
    retriever: Retriever = "bm25"
    top_k: int = 5
    rerank: bool = False
    pool: int = 30
    """Chunks that are reranked."""
    expand: bool = False
    """Whether the question is expanded by terms of a first search."""
    sentences: int = 1
    """Maximum number of sentences of an extracted answer, each from another chunk."""
    abstain: float = 0.7
    """Minimum score of a sentence to be an answer, of about 2; 0 never abstains."""
    generator: str | None = None
    """Base URL of an OpenAI-compatible server that generates the answers; without one they are extracted."""
    model: str | None = None
    api_key: str | None = None
    """`${NAME}` of the environment variable with the generator's key."""
    prompt: str | Path | None = None
    """A file with {question} and {contexts}; default: the built-in prompt of the question's language."""
    temperature: float = 0.0
    max_tokens: int = 300


_ALIASES = {"retrieval_k": "top_k"}
"""Other names of parameters that users may give."""
_NOT_TUNED = frozenset({"documents", "generator", "model", "api_key", "prompt", "max_tokens"})
"""Settings that are no tunable parameters; those that change replies must be in `identity` separately."""


class Pipeline:
    """A system that retrieves chunks of its documents and answers from them."""

    warmup = 1
    takes_contexts = True

    def __init__(self, **parameters: Any) -> None:
        self.settings = _build_settings(parameters)
        documents, self._content_hash = _read_corpus(self.settings.documents)
        self.index = _build_index(documents, self._content_hash, self.settings)
        self._generator = _build_generator(self.settings)
        self.concurrency = 1 if self._generator is None else self._generator.concurrency
        self.name = "pipeline"

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Tunable settings: the temperature only with a generator, those of the extraction only without."""
        # settings without effect are left out, so that changing one does not count as another
        # system
        idle = {"sentences", "abstain"} if self._generator else {"temperature"}
        return {
            setting.name: getattr(self.settings, setting.name)
            for setting in fields(self.settings)
            if setting.name not in _NOT_TUNED | idle
        }

    def identity(self) -> Mapping[str, Any]:
        """Identify the system by parameters, content of documents and prompts, generator and class."""
        settings = self.settings
        extra: dict[str, Any] = {}
        if self._generator is not None:
            prompts = {language: self._load_prompt(language) for language in ("en", "es")}
            extra = {
                "generator": settings.generator,
                "model": settings.model,
                "prompts": digest(prompts),
                "max_tokens": settings.max_tokens,
            }
        kind = type(self)
        if kind is not Pipeline:  # a subclass may answer differently
            extra["class"] = f"{kind.__module__}.{kind.__qualname__}"
        return {
            "pipeline": REPLY_VERSION,
            "documents": self._content_hash,
            "parameters": dict(self.parameters),
            **extra,
        }

    def shown(self, sample: Sample) -> Mapping[str, Any]:
        """The language, which selects stemmer, prompt and abstention."""
        return {"language": sample.language}

    async def answer(self, question: str, sample: Sample) -> SystemReply:
        """Retrieve chunks and answer from them.

        The latency is that of a single question: with the index built, without vectors cached by other questions."""
        # before the clock starts: the index is built once, not for each question
        self.index.prepare(self.settings.retriever)
        with track_saved_seconds() as saved:
            started = time.perf_counter()
            passages, contexts = self.retrieve(question, sample.language)
            language = detect_language(question, sample.language)
            reply = await self._build_reply(question, language, passages, contexts, started)
        assert reply.latency is not None  # _build_reply always sets it; for mypy
        # plus the time that cached vectors saved: a single question would not have found them
        return replace(reply, latency=round(reply.latency + saved.seconds, 6))

    def retrieve(self, question: str, language: str | None = None) -> tuple[list[Passage], Ranked]:
        """Retrieve the best chunks: as passages to answer from, and as ranked contexts."""
        settings = self.settings
        hits = self.index.search(
            question,
            detect_language(question, language),
            retriever=settings.retriever,
            top_k=settings.top_k,
            rerank=settings.rerank,
            pool=settings.pool,
            expand=settings.expand,
        )
        chunks = [self.index.chunks[position] for position, _ in hits]
        contexts = Ranked(
            Chunk(chunk.document, chunk.titled_text, round(score, 6))
            for chunk, (_, score) in zip(chunks, hits, strict=True)
        )
        return [Passage(chunk.text, chunk.title) for chunk in chunks], contexts

    async def answer_with(
        self, question: str, contexts: Ranked, sample: Sample | None = None
    ) -> SystemReply:
        """Answer from these contexts alone."""
        started = time.perf_counter()
        language = detect_language(question, sample.language if sample is not None else None)
        passages = [Passage(chunk.text) for chunk in contexts]
        return await self._build_reply(question, language, passages, contexts, started)

    async def close(self) -> None:
        """Close the generator's connections."""
        if self._generator is not None:
            await self._generator.close()

    async def _build_reply(
        self,
        question: str,
        language: str,
        passages: list[Passage],
        contexts: Ranked,
        started: float,
    ) -> SystemReply:
        tokens = None
        if self._generator is None:
            text: str | None = extract_answer(
                question,
                passages,
                self.index,
                language=language,
                max_sentences=self.settings.sentences,
                min_score=self.settings.abstain,
            )
        else:
            numbered = "\n\n".join(f"[{n}] {chunk.text}" for n, chunk in enumerate(contexts, 1))
            values = {"question": question, "contexts": numbered}
            generated = await self._generator.answer(
                fill_template(self._load_prompt(language), values), Sample("")
            )
            text, tokens = (generated.answer or "").strip(), generated.tokens
        return SystemReply(text, contexts, round(time.perf_counter() - started, 6), tokens)

    def _load_prompt(self, language: str) -> str:
        if self.settings.prompt is not None:
            return _read_prompt(Path(self.settings.prompt))
        file = resources.files("ragstone.systems.pipeline") / "prompts" / f"{language}.md"
        return file.read_text(encoding="utf-8")


def _build_settings(parameters: Mapping[str, Any]) -> PipelineSettings:
    known = {setting.name: setting for setting in fields(PipelineSettings)}
    values: dict[str, Any] = {}
    for key, value in parameters.items():
        name = _ALIASES.get(key, key)
        if name not in known:
            raise RagstoneError(
                f"the pipeline has no parameter {key!r}{suggest_nearest(key, list(known))}"
            )
        values[name] = value
    settings = PipelineSettings(**values)
    error = _find_error(settings)
    if error:
        raise RagstoneError(f"the pipeline's {error}")
    return settings


_CHOICES = {"by": ("sentence", "heading", "words"), "retriever": ("bm25", "dense", "hybrid")}
_MINIMA = {"chunk_size": 5, "overlap": 0, "top_k": 1, "pool": 1, "sentences": 1, "max_tokens": 1}


def _find_error(settings: PipelineSettings) -> str | None:
    """Describe the first wrong setting, beginning with its name; None if all are valid."""
    for name, choices in _CHOICES.items():
        if getattr(settings, name) not in choices:
            return f"{name} is {getattr(settings, name)!r}; give one of {', '.join(choices)}"
    for name, minimum in _MINIMA.items():
        value = getattr(settings, name)
        if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
            return f"{name} is {value!r}; give a whole number from {minimum}"
    for name in ("titles", "rerank", "expand"):
        if not isinstance(getattr(settings, name), bool):
            return f"{name} is {getattr(settings, name)!r}; give true or false"
    for name in ("abstain", "temperature"):
        value = getattr(settings, name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 5:
            return f"{name} is {value!r}; give a number from 0"
    return _find_conflict(settings)


def _find_conflict(settings: PipelineSettings) -> str | None:
    """Describe settings that are valid each but not together."""
    if settings.overlap >= settings.chunk_size:
        return (
            f"overlap {settings.overlap} is not smaller than its chunk_size {settings.chunk_size}"
        )
    if settings.generator is not None and not settings.model:
        return "generator is given without a model; name one"
    return None


def _build_generator(settings: PipelineSettings) -> HttpSystem | None:
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
        # dotted paths into the reply of the OpenAI API
        answer="choices.0.message.content",
        tokens="usage.total_tokens",
    )


def _read_prompt(path: Path) -> str:
    if not path.is_file():
        raise RagstoneError(f"no prompt file {str(path)!r}")
    text = path.read_text(encoding="utf-8")
    for name in ("{question}", "{contexts}"):
        if name not in text:
            raise RagstoneError(f"the prompt {str(path)!r} lacks {name}; say where it goes")
    return text


_indexes: OrderedDict[str, Index] = OrderedDict()
"""Cache of this process: digest of documents and chunking → index."""
_MAX_INDEXES = 8
"""Indexes in the cache: configurations with the same chunking share one."""


def _build_index(documents: list[Document], content: str, settings: PipelineSettings) -> Index:
    chunking = {
        "size": settings.chunk_size,
        "overlap": settings.overlap,
        "by": settings.by,
        "titles": settings.titles,
    }
    # retrieval settings are not part of it: `tune` tries many of them on one index
    key = digest({"documents": content, **chunking})
    if key not in _indexes:
        _indexes[key] = Index(chunk_documents(documents, **chunking))  # type: ignore[arg-type]
        while len(_indexes) > _MAX_INDEXES:
            _indexes.popitem(last=False)
    return _indexes[key]


def _read_corpus(source: str | Path) -> tuple[list[Document], str]:
    """Read the documents and hash their content."""
    # a folder of the user's precedes a built-in corpus of the same name
    is_built_in = str(source) in corpora.CORPORA and not Path(source).exists()
    documents = read_documents(corpora.documents(str(source)) if is_built_in else source)
    content = hashlib.sha256()
    for document in documents:
        content.update(repr((document.id, document.title, document.text)).encode())
    return documents, content.hexdigest()
