"""The pages of the viewer: runs, samples, comparisons, labels; every page is made in a thread, never in the event loop."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode

from aiohttp import web

from ragstone.config import Data
from ragstone.errors import DataError, RagstoneError, RunNotFound, StoreError
from ragstone.experiments.inputs import RunInputs
from ragstone.experiments.run import run_plan
from ragstone.monitor import Archive
from ragstone.monitor.interactions import now_micros
from ragstone.report.monitor import live
from ragstone.report.rows import export_rows
from ragstone.report.view.experiment_page import render_experiment, render_experiments
from ragstone.report.view.figures_page import render_figures
from ragstone.report.view.frame import ViewFrame, build_view_script, build_view_style
from ragstone.report.view.review_page import (
    MAX_RUNS,
    ReviewData,
    open_state,
    render_review,
    resolve_query,
)
from ragstone.report.view.review_pane import find_obstacle, list_labels, render_calls, render_pane
from ragstone.report.view.runs_page import render_runs
from ragstone.report.view.testset_page import (
    edit_item,
    render_testset,
    render_testsets,
    to_item,
)
from ragstone.server.api import SERVER_STATE
from ragstone.server.page import (
    TESTSET_COOKIE,
    build_frame,
    build_html_response,
    is_authorised,
    read_form,
    read_theme,
    redirect,
    show_login,
    show_store_error,
)
from ragstone.server.responses import RequestError
from ragstone.server.view_labels import read_row, save_form, show_label
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
from ragstone.store.saved_views import (
    MAX_ADDRESS_CHARS,
    forget_view,
    load_named_views,
    load_view,
    save_view,
)
from ragstone.store.testsets import clean_name, load_history, load_items, save_items, write_rows

Render = Callable[[ViewState, ViewFrame], str]
Form = dict[str, str]

MAX_FORM_BYTES = 100_000
AUTHOR_COOKIE = "ragstone_author"


def build_handler(
    name: str, render: Render
) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    """The handler of a page."""

    async def handle(request: web.Request) -> web.StreamResponse:
        if not is_authorised(request):
            return show_login(build_frame(request), request)
        frame = make_view_frame(request, name)
        state = request.app[VIEW_STATE]
        try:
            response = build_html_response(await asyncio.to_thread(render, state, frame))
            if "cols" in frame.values:
                kept = quote("\n".join(frame.get_all("cols")))
                response.set_cookie(
                    f"ragstone_{name}",
                    kept[:4000],
                    path="",
                    max_age=365 * 86400,
                    httponly=True,
                    samesite="Strict",
                )
            return response
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
        words,
        page,
        values,
        lang,
        signed_in=settings.token is not None and is_authorised(request),
        can_edit=settings.editing,
        can_run=settings.editing and settings.allow_run,
        author=_read_author(request),
        monitor_page="./" if settings.home == "monitor" else "monitor",
        message=message,
        theme=read_theme(request),
        kept=_read_kept(request, page),
        testset=unquote(request.cookies.get(TESTSET_COOKIE, ""))[:80],
    )


def _read_kept(request: web.Request, page: str) -> list[str]:
    """The columns that a page was last shown with."""
    text = unquote(request.cookies.get(f"ragstone_{page}", ""))
    return [value for value in text.split("\n") if value][:50]


DONE_WORDS = ("saved", "binned", "restored", "erased", "kept", "added")


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


async def get_moved(request: web.Request) -> web.Response:
    """The page that has taken the place of one of an earlier version, with the same filter."""
    name = request.path.rsplit("/", 1)[-1]
    if name == "compare" and "run" not in request.query:
        return redirect("runs")
    new_names = {"hist": "metric"} | ({"metric": "on"} if name == "run" else {})
    pairs = [(new_names.get(key, key), value) for key, value in request.query.items()]
    return redirect(MOVED[name], urlencode(pairs))


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
    trials = load_trials(state.store)
    return render_runs(
        frame, entries, state.store.place, binned, unread, trials, load_named_views(state.store)
    )


def open_review(state: ViewState, frame: ViewFrame) -> ReviewData:
    """The runs that the address names, the marked baseline first, else the oldest; and the samples of one of them."""
    runs = [state.store.run(name) for name in frame.get_all("run")[:MAX_RUNS] or ["last"]]
    runs = list({run.id: run for run in runs}.values())
    if len(runs) > 1:
        notes = load_run_notes(state.store)
        marked = [run.id for run in runs if run.id in notes and notes[run.id].is_baseline]
        numbers = {run.id: state.store.find_number(run.id) for run in runs}
        runs.sort(key=lambda run: (run.id not in marked, numbers[run.id]))
    entries = [state.open_entry(run) for run in runs]
    of = next((entry for entry in entries if entry.info.id == frame.get("of")), entries[-1])
    samples, job = state.open_samples(
        of, [entry for entry in entries if entry is not of], is_baseline=of is entries[0]
    )
    shown = open_state(frame, entries, of)
    experiments = (
        [kept for kept in load_experiments(state.store) if of.info.id in kept.runs]
        if len(runs) == 1
        else []
    )
    query = resolve_query(shown, samples, of.run)
    return ReviewData(
        frame, entries, of, samples, shown, query, describe_job(frame, job), experiments
    )


def show_review(state: ViewState, frame: ViewFrame) -> str:
    """`GET /review?run=…&run=…`: samples × runs, with the one that the address names, else the first, beside them."""
    data = open_review(state, frame)
    listed = data.list_page()
    at = find_sample(data, frame) or next(iter(listed.shown), 0)
    pane = render_pane(data, at, find_others(state, data, at), listed) if at else ""
    return render_review(data, listed, pane, at)


def show_pane(state: ViewState, frame: ViewFrame) -> str:
    """`GET /pane?run=…&at=…`: the sample beside the list, which the script puts there."""
    data = open_review(state, frame)
    at = find_sample(data, frame)
    if not at:
        raise RunNotFound(frame.t("view.no_sample"))
    return render_pane(data, at, find_others(state, data, at))


def find_sample(data: ReviewData, frame: ViewFrame) -> int:
    """The position of the sample that the address names by position or id; 0 where it names none."""
    if frame.get("at"):
        return frame.get_number("at", 1, data.samples.rows) if data.samples.rows else 0
    id = frame.get("id")
    if not id:
        return 0
    at = data.samples.find_positions([id]).get(id)
    if at is None:
        raise RunNotFound(frame.t("view.no_sample"))
    return at


def find_others(state: ViewState, data: ReviewData, at: int) -> list[tuple[StoredRun, int]]:
    """Runs of the data set besides those side by side that have the sample, too."""
    shown = {entry.info.id for entry in data.entries}
    found = state.find_in_other_runs(data.of, data.samples.read_heads([at])[0].id)
    return [(run, there) for run, there in found if run.id not in shown]


def show_figures(state: ViewState, frame: ViewFrame) -> str:
    """`GET /figures?run=…`: the figures of the report on a run, or of the comparison of several."""
    return render_figures(frame, open_review(state, frame).entries)


def show_calls(state: ViewState, frame: ViewFrame) -> str:
    """`GET /calls?run=…&at=…`: the judge's calls behind the scores of a sample."""
    run = state.store.run(frame.get("run") or "last")
    return render_calls(frame, run, read_row(run, frame.get_number("at", 1, 2**40)))


def describe_job(frame: ViewFrame, job: TraitsJob | None) -> str:
    """What is still missing to filter by; nothing where all is there."""
    if job is None:
        return ""
    if job.fault is not None:
        return frame.t("view.traits_missing", fault=str(job.fault))
    return frame.t("view.traits_waiting", share=100 * job.done // max(job.total, 1))


def show_testsets(state: ViewState, frame: ViewFrame) -> str:
    """`GET /testsets`."""
    return render_testsets(frame, state.store)


def show_testset(state: ViewState, frame: ViewFrame) -> str:
    """`GET /testset?name=…`."""
    return render_testset(frame, state.store, frame.get("name"))


def show_experiments(state: ViewState, frame: ViewFrame) -> str:
    """`GET /experiments`."""
    return render_experiments(frame, load_experiments(state.store))


def show_experiment(state: ViewState, frame: ViewFrame) -> str:
    """`GET /experiment?id=…`."""
    return render_experiment(frame, load_experiment(state.store, frame.get("id")), state.store)


RENDERERS: dict[str, Render] = {
    "runs": show_runs,
    "review": show_review,
    "pane": show_pane,
    "figures": show_figures,
    "calls": show_calls,
    "label": show_label,
    "testsets": show_testsets,
    "testset": show_testset,
    "experiments": show_experiments,
    "experiment": show_experiment,
}
"""Page → what makes it."""
MOVED = {"run": "review", "sample": "review", "compare": "review", "diagnosis": "figures"}
"""Pages of earlier versions → the page that has taken their place."""


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
        response = web.StreamResponse(
            headers={**headers, "Content-Type": f"{EXPORT_TYPES[kind]}; charset=utf-8"}
        )
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
    data = open_review(state, frame)
    entry, samples, query = data.of, data.samples, data.query
    if not samples.has_traits and (query.text or query.traits):
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
    return redirect("review" if form.get("review") else "label", query)


def _remember_author(form: Form) -> web.Response:
    name = " ".join(form.get("author", "").split())[:80]
    lang = form.get("lang", "")
    response = redirect("label", urlencode({"lang": lang}) if lang else "")
    # quoted: a cookie holds ASCII only; without a path the browser uses the directory it sees
    response.set_cookie(
        AUTHOR_COOKIE, quote(name), path="", max_age=365 * 86400, httponly=True, samesite="Strict"
    )
    return response


# ── views that are kept ───────────────────────────────────────────────────────────────────

VIEW_PAGES = ("review", "runs", "figures")
"""Pages whose address can be kept."""


async def post_views(request: web.Request) -> web.Response:
    """Keep an address under a name or for a short link, or forget a name."""
    form = await _read_form(request)
    state, do = request.app[VIEW_STATE], form.get("do", "")
    if do == "forget":
        await asyncio.to_thread(forget_view, state.store, form.get("id", ""))
        return redirect("runs")
    page, _, query = form.get("address", "").partition("?")
    name = " ".join(form.get("name", "").split())
    if page not in VIEW_PAGES or len(query) > MAX_ADDRESS_CHARS - 20 or (do == "save" and not name):
        raise RequestError(422, "give the address of a page of the viewer, and to save it a name")
    # decoded and written anew: nothing but a query of ours is kept
    query = urlencode(parse_qsl(query, keep_blank_values=True))
    address = f"{page}?{query}" if query else page
    author = _read_author(request)
    id = await asyncio.to_thread(
        save_view, state.store, address, name if do == "save" else "", author
    )
    if do == "save":
        return redirect("runs", "done=kept")
    shared = urlencode([*parse_qsl(query), ("shared", id)])
    return redirect(page, shared)


async def get_short(request: web.Request) -> web.Response:
    """`GET /v?id=…`: the page that a short link stands for."""
    if not is_authorised(request):
        return show_login(build_frame(request), request)
    id = request.query.get("id", "").replace("\x00", "")
    view = await asyncio.to_thread(load_view, request.app[VIEW_STATE].store, id)
    if view is None:
        return build_html_response(render_missing_run(make_view_frame(request, "runs")), 404)
    return redirect(view.address)


# ── test sets ─────────────────────────────────────────────────────────────────────────────

MAX_ADDED = 2000
"""Samples that are added to a test set at once."""


async def post_testset(request: web.Request) -> web.Response:
    """Add samples or interactions to a test set of the store, edit an item, or take it out."""
    form = await _read_form(request)
    frame = make_view_frame(request, "review")
    state, archive = request.app[VIEW_STATE], request.app[SERVER_STATE].read_archive
    try:
        change = TESTSET_ACTIONS.get(form.get("do", ""))
        if change is None:
            raise DataError(f"the action must be one of {', '.join(TESTSET_ACTIONS)}")
        target, query = await asyncio.to_thread(change, state, archive, frame, form)
    except RunNotFound as error:
        raise RequestError(404, str(error)) from None
    except DataError as error:
        raise RequestError(422, str(error)) from None
    response = redirect(target, query)
    response.set_cookie(
        TESTSET_COOKIE,
        quote(form.get("name", ""))[:400],
        path="",
        max_age=365 * 86400,
        httponly=True,
        samesite="Strict",
    )
    return response


def _add_sample(
    state: ViewState, archive: Archive, frame: ViewFrame, form: Form
) -> tuple[str, str]:
    run = state.store.run(form.get("run", ""))
    row = read_row(run, _read_position(form))
    item = to_item(row.sample, list_labels(row, run), form.get("reference", "").strip())
    save_items(
        state.store, form.get("name", ""), [item], origin=f"run {run.id}", author=frame.author
    )
    return "review", urlencode([*parse_qsl(form.get("review", "")), ("done", "added")])


def _add_all(state: ViewState, archive: Archive, frame: ViewFrame, form: Form) -> tuple[str, str]:
    query = form.get("address", "").partition("?")[2]
    values: dict[str, list[str]] = {}
    for name, value in parse_qsl(query, max_num_fields=200):
        values.setdefault(name, []).append(value)
    data = open_review(state, replace(frame, values=values))
    if data.samples.count(data.query) > MAX_ADDED:
        raise DataError(f"more than {MAX_ADDED} samples fit; narrow the filter")
    run = data.of.run
    rows = [run.row(at) for at in data.samples.page(data.query)]
    items = [to_item(row.sample, list_labels(row, run)) for row in rows]
    save_items(
        state.store, form.get("name", ""), items, origin=f"run {run.id}", author=frame.author
    )
    return "testset", urlencode({"name": clean_name(form.get("name", "")), "done": "added"})


def _add_interactions(
    state: ViewState, archive: Archive, frame: ViewFrame, form: Form
) -> tuple[str, str]:
    ids = form.get("ids", "").split()[:MAX_ADDED]
    found = [one for one in map(archive.get, ids) if one is not None]
    if not found:
        raise RunNotFound("no interaction has this id")
    items = []
    for one in found:
        item = to_item(one.sample)
        if one.feedback is not None:
            item["meta"] = {**item.get("meta", {}), "feedback": one.feedback}
        items.append(item)
    save_items(state.store, form.get("name", ""), items, origin="monitor", author=frame.author)
    return "testset", urlencode({"name": clean_name(form.get("name", "")), "done": "added"})


def _edit_item(state: ViewState, archive: Archive, frame: ViewFrame, form: Form) -> tuple[str, str]:
    name, id = clean_name(form.get("name", "")), form.get("id", "")
    revisions = load_history(state.store, name, id)
    if not revisions or not revisions[0].row:
        raise RunNotFound(f"the test set {name!r} has no item {id!r}")
    edited: dict[str, Any] = {"id": id}
    if form.get("do") == "edit":
        texts = [
            form.get(field, "").replace("\r\n", "\n").strip() for field in ("reference", "relevant")
        ]
        edited = edit_item(revisions[0].row, *texts)
    save_items(state.store, name, [edited], origin="", author=frame.author)
    return "testset", urlencode({"name": name, "done": "saved"})


def _read_position(form: Form) -> int:
    text = form.get("at", "")
    if not (text.isascii() and text.isdigit() and len(text) < 12):
        raise DataError("the form names no sample")
    return int(text)


TESTSET_ACTIONS: dict[str, Callable[[ViewState, Archive, ViewFrame, Form], tuple[str, str]]] = {
    "add": _add_sample,
    "add_all": _add_all,
    "add_interactions": _add_interactions,
    "edit": _edit_item,
    "remove": _edit_item,
}


async def get_testset_file(request: web.Request) -> web.Response:
    """`GET /testset.jsonl?name=…`: a test set as a file."""
    if not is_authorised(request):
        return show_login(build_frame(request), request)
    name = request.query.get("name", "").replace("\x00", "")
    items = await asyncio.to_thread(load_items, request.app[VIEW_STATE].store, name)
    if not items:
        raise RequestError(404, "the store has no such test set")
    body = write_rows(items).encode("utf-8", "replace")
    headers = {"Content-Disposition": 'attachment; filename="testset.jsonl"'}
    return web.Response(
        body=body, content_type="application/x-ndjson", charset="utf-8", headers=headers
    )


# ── asking again ──────────────────────────────────────────────────────────────────────────

AGAIN_TAG = "again"
"""The tag of a run that asked one sample of another run again; its note says which."""


async def post_again(request: web.Request) -> web.Response:
    """Ask the system of a run one question again: a new run, beside which the old one is shown."""
    form = await _read_form(request)
    if not request.app[SERVER_STATE].settings.allow_run:
        raise RequestError(403, "this viewer asks no system; start it with --allow-run")
    state = request.app[VIEW_STATE]
    try:
        old, new, id = await asyncio.to_thread(_ask_again, state, form)
    except RunNotFound as error:
        raise RequestError(404, str(error)) from None
    except RagstoneError as error:
        raise RequestError(422, str(error)) from None
    pairs = [("run", old), ("run", new), ("id", id)]
    return redirect(
        "review", urlencode([*pairs, *([("lang", form["lang"])] if form.get("lang") else [])])
    )


def _ask_again(state: ViewState, form: Form) -> tuple[str, str, str]:
    """Ids of the old and the new run, and of the sample."""
    run = state.store.run(form.get("run", ""))
    row = read_row(run, _read_position(form))
    if obstacle := find_obstacle(run.info):
        raise DataError(f"the sample cannot be asked again: {obstacle}")
    plan = run.info.plan
    name = f"{run.info.name or run.id} · {row.id}"[:200]
    # the question alone, with what the plan says of system, metrics and judge; nothing is written but the run
    again = replace(
        plan,
        name=name,
        data=Data(),
        gates={},
        output=(),
        labels=None,
        store=None,
        resume=False,
        restart=False,
        retry_errors=False,
        run_id=None,
        on=None,
    )
    item = to_item(replace(row.sample, contexts=None, answer=None))
    made = run_plan(again, RunInputs(samples=[item], store=state.store)).stored
    save_tags(state.store, made.id, [AGAIN_TAG])
    save_note(state.store, made.id, f"{row.id} of {run.id}")
    return run.id, made.id, row.id


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
    pairs = {"run": form["run"] if page == "review" else "", "done": done, "lang": lang}
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
    return "review", "saved"


def _mark(state: ViewState, run: StoredRun, form: Form, *, is_baseline: bool) -> tuple[str, str]:
    source = run.info.facts.source or run.info.source
    same = [info.id for info in state.store.runs() if (info.facts.source or info.source) == source]
    mark_baseline(state.store, run.id, among=same, is_baseline=is_baseline)
    return "review", "saved"


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
