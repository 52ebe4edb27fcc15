"""The pages of the viewer: runs, samples, comparisons, labels; every page is made in a thread, never in the event loop."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import quote, unquote, urlencode

from aiohttp import web

from ragstone.errors import DataError, RagstoneError, RunNotFound, StoreError
from ragstone.monitor.interactions import now_micros
from ragstone.report.monitor import live
from ragstone.report.rows import export_rows
from ragstone.report.view.compare_page import MAX_RUNS, render_chooser, render_comparison
from ragstone.report.view.diagnosis_page import render_diagnosis
from ragstone.report.view.experiment_page import render_experiment, render_experiments
from ragstone.report.view.frame import ViewFrame, build_view_script, build_view_style
from ragstone.report.view.run_page import open_state, render_run, resolve_query
from ragstone.report.view.runs_page import render_runs
from ragstone.report.view.sample_page import render_sample_page
from ragstone.server.api import SERVER_STATE
from ragstone.server.page import (
    build_frame,
    build_html_response,
    is_authorised,
    read_form,
    redirect,
    show_login,
    show_store_error,
)
from ragstone.server.responses import RequestError
from ragstone.server.view_labels import save_form, show_label
from ragstone.server.view_state import VIEW_STATE, TraitsJob, ViewState
from ragstone.store import StoredRow, StoredRun
from ragstone.store.experiments import load_experiment, load_experiments, load_trials
from ragstone.store.run_notes import (
    load_run_notes,
    mark_baseline,
    move_to_bin,
    save_note,
    save_tags,
)

Render = Callable[[ViewState, ViewFrame], str]
Form = dict[str, str]

MAX_FORM_BYTES = 100_000
AUTHOR_COOKIE = "ragstone_author"


def mount_view(app: web.Application, prefix: str) -> None:
    """Add the viewer's pages under a prefix."""
    for name, render in RENDERERS.items():
        app.router.add_get(f"{prefix}/{name}", _build_handler(name, render))
    app.router.add_get(f"{prefix}/view.css", get_view_style)
    app.router.add_get(f"{prefix}/view.js", get_view_script)
    app.router.add_get(f"{prefix}/export", get_export)
    app.router.add_post(f"{prefix}/notes", post_notes)
    app.router.add_post(f"{prefix}/labels", post_labels)


def _build_handler(
    name: str, render: Render
) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    async def handle(request: web.Request) -> web.StreamResponse:
        if not is_authorised(request):
            return show_login(build_frame(request), request)
        frame = make_view_frame(request, name)
        state = request.app[VIEW_STATE]
        try:
            return build_html_response(await asyncio.to_thread(render, state, frame))
        except RunNotFound:
            return build_html_response(render_missing_run(frame), 404)
        except StoreError as error:
            return show_store_error(build_frame(request), error)
        except RagstoneError as error:  # runs that cannot be compared, a metric that is not there
            return build_html_response(render_message(frame, str(error)), 422)

    return handle


def make_view_frame(request: web.Request, page: str) -> ViewFrame:
    """The frame of a page: its language is that of the address, else the browser's."""
    settings = request.app[SERVER_STATE].settings
    lang = request.query.get("lang", "")
    lang = lang if lang in ("en", "es") else ""
    values = {name: request.query.getall(name) for name in dict.fromkeys(request.query)}
    words = live.choose_words(lang, request.headers.get("Accept-Language", ""))
    done = request.query.get("done", "")
    message = words(f"view.did.{done}") if done in DONE_WORDS else ""
    return ViewFrame(
        words, page, values, lang,
        signed_in=settings.token is not None and is_authorised(request),
        can_edit=settings.editing,
        author=_read_author(request),
        monitor_page="./" if settings.home == "monitor" else "monitor",
        message=message,
    )  # fmt: skip


DONE_WORDS = ("saved", "binned", "restored", "erased")


def _read_author(request: web.Request) -> str:
    text = (
        unquote(request.cookies.get(AUTHOR_COOKIE, "")) or request.app[SERVER_STATE].settings.author
    )
    return " ".join(text.split())[:80]


def render_message(frame: ViewFrame, *lines: str) -> str:
    """A page that says why there is nothing else on it."""
    title = frame.t("view.cannot")
    return frame.fill("view_message.html.j2", title=title, lines=lines, is_error=True)


def render_missing_run(frame: ViewFrame) -> str:
    """The page for a run that the store does not have."""
    return render_message(frame, frame.t("view.no_run"))


# ── runs ──────────────────────────────────────────────────────────────────────────────────


def show_runs(state: ViewState, frame: ViewFrame) -> str:
    """`GET /runs`."""
    entries, unread = state.load_entries()
    ids = [run for run, notes in load_run_notes(state.store).items() if notes.deleted]
    binned = []
    for run in ids:
        try:
            binned.append(state.store.run(run).info)
        except RunNotFound:  # erased by another process between the two reads
            continue
    return render_runs(frame, entries, state.store.place, binned, unread, load_trials(state.store))


def show_run(state: ViewState, frame: ViewFrame) -> str:
    """`GET /run?run=…`."""
    entry = state.open_entry(state.store.run(frame.get("run") or "last"))
    samples, job = state.open_samples(entry)
    experiments = [kept for kept in load_experiments(state.store) if entry.info.id in kept.runs]
    return render_run(frame, entry, samples, experiments, describe_job(frame, job))


def describe_job(frame: ViewFrame, job: TraitsJob | None) -> str:
    """What is still missing to filter by; nothing where all is there."""
    if job is None:
        return ""
    if job.fault is not None:
        return frame.t("view.traits_missing", fault=str(job.fault))
    return frame.t("view.traits_waiting", share=100 * job.done // max(job.total, 1))


def show_sample(state: ViewState, frame: ViewFrame) -> str:
    """`GET /sample?run=…&at=…`, or `&id=…`."""
    entry = state.open_entry(state.store.run(frame.get("run") or "last"))
    samples, _ = state.open_samples(entry)
    sample = frame.get("id")
    if sample and not frame.get("at"):
        at = samples.find_positions([sample]).get(sample)
        if at is None:
            raise RunNotFound(frame.t("view.no_sample"))
        frame = replace(frame, values={**frame.values, "at": [str(at)]})
    position = frame.get_number("at", 1, max(samples.rows, 1))
    heads = samples.read_heads([position]) if samples.rows else []
    others = state.find_in_other_runs(entry, heads[0].id) if heads else []
    return render_sample_page(frame, entry, samples, others)


def show_comparison(state: ViewState, frame: ViewFrame) -> str:
    """`GET /compare?run=…&run=…`: the marked baseline, else the oldest run, is the one that others are compared with."""
    chosen = frame.get_all("run")
    if not 2 <= len(chosen) <= MAX_RUNS:
        return render_chooser(frame, state.list_choices(), chosen)
    notes = load_run_notes(state.store)
    runs = {run.id: run for run in map(state.store.run, chosen)}
    marked = [id for id in runs if id in notes and notes[id].is_baseline]
    order = [info.id for info in reversed(state.store.runs())]
    ids = sorted(runs, key=lambda id: (id not in marked, order.index(id) if id in order else 0))
    return render_comparison(frame, [runs[id] for id in ids])


def show_diagnosis(state: ViewState, frame: ViewFrame) -> str:
    """`GET /diagnosis?run=…`."""
    return render_diagnosis(frame, state.open_entry(state.store.run(frame.get("run") or "last")))


def show_experiments(state: ViewState, frame: ViewFrame) -> str:
    """`GET /experiments`."""
    return render_experiments(frame, load_experiments(state.store))


def show_experiment(state: ViewState, frame: ViewFrame) -> str:
    """`GET /experiment?id=…`."""
    return render_experiment(frame, load_experiment(state.store, frame.get("id")), state.store)


RENDERERS: dict[str, Render] = {
    "runs": show_runs,
    "run": show_run,
    "sample": show_sample,
    "compare": show_comparison,
    "label": show_label,
    "diagnosis": show_diagnosis,
    "experiments": show_experiments,
    "experiment": show_experiment,
}
"""Page → what makes it."""
VIEW_PATHS = tuple(
    f"/{name}" for name in (*RENDERERS, "view.css", "view.js", "notes", "labels", "export")
)
"""Paths that the guard admits without the token: their handlers check it, and show the sign-in form."""


# ── export ────────────────────────────────────────────────────────────────────────────────

EXPORT_TYPES = {"csv": "text/csv", "jsonl": "application/x-ndjson", "json": "application/json"}
POINT_READS = 2000
"""Up to so many samples are read one by one, in the order of the list; more are read in the order of the data."""


async def get_export(request: web.Request) -> web.StreamResponse:
    """`GET /export?run=…&format=csv`: the samples that fit the filter, as `ragstone export` writes them."""
    if not is_authorised(request):
        return show_login(build_frame(request), request)
    frame, state = make_view_frame(request, "export"), request.app[VIEW_STATE]
    kind = frame.get("format") or "csv"
    if kind not in EXPORT_TYPES:
        raise RequestError(422, f"the format must be one of {', '.join(EXPORT_TYPES)}")
    # a file first: whether all of it could be read must be known before the first byte is sent
    with tempfile.TemporaryDirectory(prefix="ragstone-export-") as folder:
        path = Path(folder) / f"samples.{kind}"
        try:
            name = await asyncio.to_thread(_write_export, state, frame, path)
        except RunNotFound as error:
            raise RequestError(404, str(error)) from None
        headers = {"Content-Disposition": f'attachment; filename="{name}.{kind}"'}
        response = web.StreamResponse(headers={**headers, "Content-Type": f"{EXPORT_TYPES[kind]}; charset=utf-8"})  # fmt: skip
        await response.prepare(request)
        seconds = request.app[SERVER_STATE].settings.response_seconds
        with path.open("rb") as file:
            while block := await asyncio.to_thread(file.read, 1 << 18):
                try:
                    async with asyncio.timeout(seconds):
                        await response.write(block)
                except TimeoutError:  # the client does not read
                    if request.transport is not None:
                        request.transport.abort()
                    return response
        await response.write_eof()
        return response


def _write_export(state: ViewState, frame: ViewFrame, path: Path) -> str:
    entry = state.open_entry(state.store.run(frame.get("run") or "last"))
    samples, job = state.open_samples(entry)
    query = resolve_query(open_state(frame, entry), samples, entry.run)
    if job is not None and (query.text or query.traits):
        raise RequestError(503, "the run is still being read; try again", retry_after=2)
    ordered = samples.page(query)

    def select() -> Iterator[StoredRow]:
        if len(ordered) <= POINT_READS:
            yield from map(entry.run.row, ordered)
        else:
            wanted = set(ordered)
            yield from (row for row in entry.run.rows() if row.position in wanted)

    export_rows(entry.run, path, entry.summary, language=frame.t.language, select=select)
    # ids of runs are of our own making; a name could hold anything
    return f"ragstone-{entry.info.id}"


# ── labels ────────────────────────────────────────────────────────────────────────────────


async def post_labels(request: web.Request) -> web.Response:
    """Keep a label of a form, take one back, or remember who is labelling."""
    form = await _read_form(request)
    if form.get("do") == "name":
        return _remember_author(form)
    query = await save_form(request, form, _read_author(request))
    return redirect("label", query)


def _remember_author(form: Form) -> web.Response:
    name = " ".join(form.get("author", "").split())[:80]
    lang = form.get("lang", "")
    response = redirect("label", urlencode({"lang": lang}) if lang else "")
    # quoted: a cookie holds ASCII only; without a path the browser uses the directory it sees
    response.set_cookie(AUTHOR_COOKIE, quote(name), path="", max_age=365 * 86400, httponly=True, samesite="Strict")  # fmt: skip
    return response


# ── what people note ──────────────────────────────────────────────────────────────────────


async def post_notes(request: web.Request) -> web.Response:
    """Tags, note, baseline mark and bin of a run, from a form."""
    form = await _read_form(request)
    state = request.app[VIEW_STATE]
    action = NOTE_ACTIONS.get(form.get("do", ""))
    if action is None:
        raise RequestError(422, f"the action must be one of {', '.join(NOTE_ACTIONS)}")
    try:
        page, done = await asyncio.to_thread(_apply_note, state, action, form)
    except RunNotFound as error:
        raise RequestError(404, str(error)) from None
    except DataError as error:
        raise RequestError(422, str(error)) from None
    lang = form.get("lang", "")
    pairs = {"run": form["run"] if page == "run" else "", "done": done, "lang": lang}
    return redirect(page, urlencode({name: value for name, value in pairs.items() if value}))


def _apply_note(
    state: ViewState, action: Callable[[ViewState, StoredRun, Form], tuple[str, str]], form: Form
) -> tuple[str, str]:
    run = state.store.run(form.get("run", ""))
    # a name or the start of an id would act on whichever run is the newest of that name
    if run.id != form["run"]:
        raise DataError("give the whole id of the run")
    return action(state, run, form)


def _save_texts(state: ViewState, run: StoredRun, form: Form) -> tuple[str, str]:
    save_tags(state.store, run.id, form.get("tags", "").split(","))
    save_note(state.store, run.id, form.get("note", ""))
    return "run", "saved"


def _mark(state: ViewState, run: StoredRun, form: Form, *, is_baseline: bool) -> tuple[str, str]:
    source = run.info.facts.source or run.info.source
    same = [info.id for info in state.store.runs() if (info.facts.source or info.source) == source]
    mark_baseline(state.store, run.id, among=same, is_baseline=is_baseline)
    return "run", "saved"


def _bin(state: ViewState, run: StoredRun, form: Form) -> tuple[str, str]:
    move_to_bin(state.store, run.id, now_micros())
    return "runs", "binned"


def _restore(state: ViewState, run: StoredRun, form: Form) -> tuple[str, str]:
    move_to_bin(state.store, run.id, 0)
    return "runs", "restored"


def _erase(state: ViewState, run: StoredRun, form: Form) -> tuple[str, str]:
    notes = load_run_notes(state.store).get(run.id)
    if notes is None or not notes.deleted:
        raise DataError("only a run in the bin can be erased")
    state.store.delete(run.id)
    return "runs", "erased"


NOTE_ACTIONS: dict[str, Callable[[ViewState, StoredRun, Form], tuple[str, str]]] = {
    "save": _save_texts,
    "mark": partial(_mark, is_baseline=True),
    "unmark": partial(_mark, is_baseline=False),
    "bin": _bin,
    "restore": _restore,
    "erase": _erase,
}


async def _read_form(request: web.Request) -> Form:
    """The fields of a form that changes something; refused where nothing may be changed."""
    settings = request.app[SERVER_STATE].settings
    if not is_authorised(request):
        raise RequestError(401, "sign in first", "refused_token")
    if not settings.editing:
        raise RequestError(403, "this viewer is read-only; start it with --labels")
    form = await read_form(request, MAX_FORM_BYTES)
    # no database holds NUL
    return {name: value.replace("\x00", "") for name, value in form.items()}


async def get_view_style(request: web.Request) -> web.Response:
    """`GET /view.css`."""
    return web.Response(text=build_view_style(), content_type="text/css", headers=_CACHE)


async def get_view_script(request: web.Request) -> web.Response:
    """`GET /view.js`."""
    return web.Response(text=build_view_script(), content_type="text/javascript", headers=_CACHE)


_CACHE = {"Cache-Control": "private, max-age=300"}
