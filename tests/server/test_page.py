"""The live page in a real Chromium: with and without its script, under a prefix, in both languages."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest

import watched
from chromium import CONTRAST, PAYLOADS, Visit, browser, needs_chromium, playwright
from live import Server, in_thread
from ragstone.errors import DataError, StoreError
from ragstone.monitor import Archive, Interaction, ScoredInteraction
from ragstone.monitor.interactions import now_micros
from ragstone.monitor.windows.calendars import parse_local_time
from ragstone.monitor.windows.interactions import load_recent, load_worst
from ragstone.monitor.windows.period_analysis import analyse_period
from ragstone.report import markdown, open_page
from ragstone.server import ServerSettings
from ragstone.server.api import SERVER_STATE
from ragstone.server.settings import check_settings
from ragstone.store import Store
from ragstone.types import Chunk, Finding, Ranked, Score

__all__ = ["browser"]
pytestmark = needs_chromium
TOKEN = "a-token-that-is-long-enough"


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server on 1,500 interactions, an alert that fires and one that is over, shown under a prefix."""
    archive = Archive(Store.open(tmp_path_factory.mktemp("busy") / "s.db"))
    now = now_micros()
    watched.fill(archive, 1500, now)
    firing = watched.drop(now, example="i-1498")
    watched.keep(archive, [firing, watched.over(firing, now - 3_600_000_000)], now)
    with in_thread(ServerSettings(prefix="/rag/stone"), archive.store) as one:
        yield one


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Server]:
    with in_thread(ServerSettings(), Store.open(tmp_path / "s.db")) as one:
        yield one


@pytest.fixture
def closed(tmp_path: Path) -> Iterator[Server]:
    archive = Archive(Store.open(tmp_path / "s.db"))
    watched.fill(archive, 30, now_micros(), days=1)
    with in_thread(ServerSettings(token=TOKEN), archive.store) as one:
        yield one


# ── what it shows ─────────────────────────────────────────────────────────────────────────


def test_a_store_with_nothing_says_how_to_send_something(browser: Any, empty: Server) -> None:
    visit = Visit(browser, f"{empty.url}/")
    assert "Nothing has arrived yet" in visit.page.locator("#live").inner_text()
    assert f"{empty.url}/v1/interactions" in visit.page.locator("pre").inner_text()
    assert visit.complaints == []


def test_every_part_is_there_and_the_page_stays_small(browser: Any, busy: Server) -> None:
    visit = Visit(browser, f"{busy.url}/?window=7d&by=model", java_script_enabled=False)
    text = visit.page.locator("body").inner_text()
    for part in ("Quality has dropped", "Alerts", "Explained by model = small", "Latency"):
        assert part in text
    card = visit.page.locator(".card", has_text="faithfulness").first
    assert card.locator(".badge").inner_text() == "firing"
    assert "scored of" in card.inner_text()
    assert "reference 0.850" in card.inner_text()
    assert card.locator("svg .d-band").count() > 20
    assert card.locator("svg .d-bad").count() > 0
    assert visit.page.locator("#h-slices").inner_text() == "By model"
    assert visit.page.locator(".list").first.locator("li").count() == 15
    assert len(visit.page.content()) < 200_000


def test_the_worst_are_the_worst_of_the_window(browser: Any, busy: Server) -> None:
    visit = Visit(browser, f"{busy.url}/?window=7d&metric=faithfulness", java_script_enabled=False)
    shown = visit.page.locator("#h-worst ~ .list .chip", has_text="faithfulness").all_inner_texts()
    values = [float(text.split()[-1]) for text in shown]
    assert values == sorted(values)
    assert values[0] < 0.2
    visit.page.locator("select[name=metric]").select_option(label="Feedback")
    visit.page.get_by_role("button", name="Show").click()
    assert "metric=feedback" in visit.page.url
    first = visit.page.locator("#h-worst ~ .list li").first
    assert "the number is wrong" in first.inner_text()


def test_an_interaction_opens_to_its_claims_and_their_evidence(browser: Any, busy: Server) -> None:
    still = {"java_script_enabled": False, "reduced_motion": "reduce"}
    visit = Visit(browser, f"{busy.url}/?window=7d", **still)
    visit.page.locator("#h-worst ~ .list a").first.click()
    assert "/interaction?" in visit.page.url
    claim = visit.page.locator(".claim").first
    assert "supported" in claim.inner_text()
    mark = visit.page.locator(".chunk mark").first
    assert mark.inner_text() == "23 days of leave in their first year"
    lit = "element => getComputedStyle(element).backgroundColor !== 'rgba(0, 0, 0, 0)'"
    assert not mark.evaluate(lit)
    claim.focus()
    assert mark.evaluate(lit)
    assert "tenant" in visit.page.locator(".facts").inner_text()
    visit.page.get_by_role("link", name="Back to the overview").click()
    assert parse_qs(urlsplit(visit.page.url).query) == {"window": ["7d"]}


def test_what_is_not_there_is_said(browser: Any, empty: Server) -> None:
    assert empty.get("/interaction?id=none").status == 404
    assert empty.get("/interaction").status == 404
    assert empty.get("/interaction?id=%00").status == 404


# ── filters: the state is in the address ──────────────────────────────────────────────────


def test_filters_by_time_and_slice_and_keeps_them_in_the_address(browser: Any, busy: Server) -> None:  # fmt: skip
    visit = Visit(browser, f"{busy.url}/", java_script_enabled=False)
    everything = visit.page.locator(".card", has_text="Interactions").locator("strong")
    whole = int(everything.inner_text().replace(",", ""))
    visit.page.locator("select[name=by]").select_option("model")
    visit.page.get_by_role("button", name="Show").click()
    visit.page.locator("select[name=slice]").select_option("model:small")
    visit.page.get_by_role("button", name="Show").click()
    asked = parse_qs(urlsplit(visit.page.url).query)
    assert asked["slice"] == ["model:small"]
    half = int(everything.inner_text().replace(",", ""))
    assert abs(half - whole / 2) <= 1
    rows = visit.page.locator("#h-recent ~ .list a").all_inner_texts()
    numbers = [int(text.rsplit("(", 1)[1].rstrip(")")) for text in rows]
    assert numbers
    assert all(number % 2 == 1 for number in numbers)
    visit.page.locator("select[name=window]").select_option("7d")
    visit.page.get_by_role("button", name="Show").click()
    assert int(everything.inner_text().replace(",", "")) > half * 5
    visit.page.get_by_role("link", name="Clear").click()
    assert urlsplit(visit.page.url).query == ""


def test_an_end_in_the_past_holds_the_window_still(browser: Any, busy: Server) -> None:
    visit = Visit(browser, f"{busy.url}/?window=1h&until=2001-01-01T00:00")
    assert "No score in this time." in visit.page.locator("#metrics").inner_text()
    assert visit.page.locator("input[name=until]").input_value() == "2001-01-01T00:00"
    assert visit.page.get_by_role("button", name="Refresh by itself").is_visible()


@pytest.mark.parametrize(
    ("query", "said"),
    [("window=soon", "no length"), ("until=never", "no time"), ("slice=model", "no slice"),
     ("window=99999d", "no length"), ("show=-3", ""), ("by=nothing", ""), ("metric=nothing", ""),
     ("tz=Mars/Base", "no time zone"), ("tz=../../etc/passwd", "no time zone"), ("tz=Europe", "no time zone"),
     ("slice=no:where", ""), ("lang=xx", ""), ("until=%00", ""), ("by=%00&slice=%00:x", "no slice")],
)  # fmt: skip
def test_what_an_address_gets_wrong_is_said_and_left_out(busy: Server, query: str, said: str) -> None:  # fmt: skip
    answer = busy.get(f"/?{query}")
    assert answer.status == 200
    assert said in answer.body.decode()
    assert ('role="alert"' in answer.body.decode()) == bool(said)


def test_times_are_those_of_the_zone_that_the_address_or_the_server_names(
    browser: Any, tmp_path: Path
) -> None:
    archive = Archive(Store.open(tmp_path / "s.db"))
    noon = parse_local_time("2026-05-01T12:00")
    archive.add([Interaction("a", noon, "q")]).result()
    watched.keep(archive, [watched.drop(noon + watched.DAY)], noon + watched.DAY)
    with in_thread(ServerSettings(zone="Europe/Madrid"), archive.store) as server:
        visit = Visit(browser, f"{server.url}/?window=7d&until=2026-05-02T16:00")
        assert "2026-05-02 16:00 Europe/Madrid" in visit.page.locator(".sub").inner_text()
        assert "2026-05-01 14:00:00" in visit.page.locator("#h-recent ~ .list").inner_text()
        assert "since 2026-05-01 14:00 CEST" in visit.page.locator(".alert").inner_text()
        visit.page.get_by_label("Time zone").fill("America/Mexico_City")
        visit.page.get_by_role("button", name="Show").click()
        assert parse_qs(urlsplit(visit.page.url).query)["tz"] == ["America/Mexico_City"]
        assert "2026-05-01 06:00:00" in visit.page.locator("#h-recent ~ .list").inner_text()
        visit.page.locator(".list a").first.click()
        assert (
            "2026-05-01 06:00:00 America/Mexico_City" in visit.page.locator(".facts").inner_text()
        )
        assert visit.page.locator(".back a").get_attribute("href").count("tz=America")
        own = Visit(browser, server.url, timezone_id="Asia/Tokyo")
        assert own.page.locator("#zones option").first.get_attribute("value") == "Asia/Tokyo"
    with pytest.raises(DataError, match="no time zone 'Mars'"):
        check_settings(ServerSettings(zone="Mars"))


@pytest.mark.parametrize(("lang", "said"), [("en", "cannot be read"), ("es", "No se puede leer")])
def test_a_store_that_is_away_is_a_page_with_the_remedy(
    empty: Server, monkeypatch: pytest.MonkeyPatch, lang: str, said: str
) -> None:
    assert empty.app is not None

    def away(*_: Any, **__: Any) -> Any:
        raise StoreError("cannot read <the store>")

    monkeypatch.setattr(empty.app[SERVER_STATE].read_archive.store, "read", away)
    monkeypatch.setattr(empty.app[SERVER_STATE].read_archive, "get", away)
    for path in ("/", "/interaction?id=a"):
        answer = empty.get(f"{path}{'&' if '?' in path else '?'}lang={lang}")
        assert answer.status == 503
        assert answer.headers["Retry-After"] == "5"
        assert answer.headers["Content-Type"].startswith("text/html")
        page = answer.body.decode()
        assert said in page
        assert "cannot read &lt;the store&gt;" in page
        assert "ragstone monitor status" in page
        assert f'<html lang="{lang}">' in page


def test_what_is_missing_is_said_with_what_to_do(browser: Any, empty: Server) -> None:
    assert empty.post("/v1/interactions", {"id": "a", "question": "q"}).status == 200
    page = Visit(browser, empty.url).page
    assert "ragstone monitor score" in page.locator("#metrics").inner_text()
    assert "No alert in this time." in page.locator("#live").inner_text()
    assert "No feedback in this time." in page.locator("#live").inner_text()


@pytest.mark.slow
def test_every_prepared_window_and_more_rows_work(busy: Server) -> None:
    for window in ("5m", "1h", "6h", "7d", "30d", "366d"):
        assert busy.get(f"/?window={window}&by=tenant&show=200").status == 200
    assert busy.get("/?window=7d&show=60").body.count(b"<li><a href=") > 100


# ── under a prefix, in both languages, by keyboard, light and dark ─────────────────────────


def test_nothing_leaves_the_prefix(browser: Any, busy: Server) -> None:
    visit = Visit(browser, f"{busy.url}/rag/stone?window=7d")
    assert visit.page.url == f"{busy.url}/rag/stone/?window=7d"
    visit.page.locator("#h-recent ~ .list a").first.click()
    visit.page.get_by_role("link", name="Español").click()
    visit.page.get_by_role("link", name="Volver al resumen").click()
    visit.page.get_by_role("button", name="Mostrar", exact=True).click()
    assert all(urlsplit(url).path.startswith("/rag/stone") for url in visit.requests if url.startswith("http"))  # fmt: skip
    assert visit.page.locator("html").get_attribute("lang") == "es"
    assert visit.complaints == []


@pytest.fixture
def proxy(closed: Server) -> Iterator[str]:
    """A reverse proxy that shows the server under /shown and tells it nothing of that."""
    import http.client

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            assert self.path.startswith("/shown/")
            size = int(self.headers.get("Content-Length") or 0)
            far = http.client.HTTPConnection(closed.host, closed.port, timeout=30)
            body = self.rfile.read(size) if size else None
            far.request(self.command, self.path.removeprefix("/shown"), body, dict(self.headers))
            answer = far.getresponse()
            body = answer.read()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("transfer-encoding", "connection", "content-length"):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            far.close()

        do_POST = do_GET

        def log_message(self, *args: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/shown/"
    server.shutdown()
    server.server_close()
    thread.join(10)


def test_signing_in_works_through_a_proxy_that_strips_its_prefix(browser: Any, proxy: str) -> None:
    visit = Visit(browser, f"{proxy}?window=7d")
    visit.page.get_by_label("Token").fill(TOKEN)
    visit.page.get_by_role("button", name="Sign in").click()
    assert visit.page.url == f"{proxy}?window=7d"
    assert visit.page.locator("h1").inner_text() == "Quality in production"
    (cookie,) = visit.page.context.cookies()
    assert cookie["path"] == "/shown"
    visit.page.locator(".list a").first.click()
    assert visit.page.locator(".chunk").count() == 2
    assert all(url.startswith((proxy, "data:")) for url in visit.requests)


def test_speaks_the_language_of_the_browser_or_of_the_address(browser: Any, busy: Server) -> None:
    visit = Visit(browser, f"{busy.url}/?window=7d", locale="es-ES")
    assert visit.page.locator("h1").inner_text() == "Calidad en producción"
    assert "bajó de 0,850 a 0,700 (-0,150)" in visit.page.locator(".alert").first.inner_text()
    visit.page.get_by_role("link", name="English").click()
    assert visit.page.locator("h1").inner_text() == "Quality in production"
    assert parse_qs(urlsplit(visit.page.url).query) == {"window": ["7d"], "lang": ["en"]}
    assert visit.page.locator("html").get_attribute("lang") == "en"


@pytest.mark.parametrize(
    ("accepted", "lang"),
    [("", "en"), ("es", "es"), ("fr,es;q=0.5,en;q=0.4", "es"), ("en;q=0.1,es-MX;q=0.2", "es"),
     ("de", "en"), ("es;q=x,en", "en")],
)  # fmt: skip
def test_the_browsers_languages_are_weighed(empty: Server, accepted: str, lang: str) -> None:
    answer = empty.get("/", **{"Accept-Language": accepted})
    assert f'<html lang="{lang}">' in answer.body.decode()


def test_everything_can_be_reached_by_keyboard(browser: Any, busy: Server) -> None:
    visit = Visit(browser, f"{busy.url}/?window=7d&by=model")
    keys = visit.page.keyboard
    keys.press("Tab")
    focused = "document.activeElement"
    assert visit.page.evaluate(f"{focused}.className") == "skip"
    assert visit.page.evaluate(f"{focused}.getBoundingClientRect().left >= 0")
    seen = []
    for _ in range(70):
        keys.press("Tab")
        seen.append(visit.page.evaluate(
            f"[{focused}.tagName, {focused}.name || {focused}.getAttribute('href') || '', getComputedStyle({focused}).outlineStyle]"
        ))  # fmt: skip
    names = [name for _, name, _ in seen]
    for wanted in ("window", "until", "by", "slice", "metric"):
        assert wanted in names
    assert any(name.startswith("interaction?") for name in names)
    assert any(tag == "SUMMARY" for tag, _, _ in seen)
    assert all(outline != "none" for tag, _, outline in seen if tag != "BODY")
    visit.page.locator(".list a").first.focus()
    keys.press("Enter")
    visit.page.wait_for_url("**/interaction?**")


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_sticks_out_and_text_has_contrast(
    browser: Any, busy: Server, width: int, scheme: str
) -> None:
    size = {"width": width, "height": 900}
    visit = Visit(browser, f"{busy.url}/?window=7d&by=model", viewport=size, color_scheme=scheme)
    assert visit.page.evaluate("document.documentElement.scrollWidth") == width
    assert visit.page.evaluate(CONTRAST) == []
    visit.page.locator("#h-worst ~ .list a").first.click()
    assert visit.page.evaluate("document.documentElement.scrollWidth") == width
    assert visit.page.evaluate(CONTRAST) == []


# ── the script ────────────────────────────────────────────────────────────────────────────


def test_refreshes_by_itself_and_keeps_the_place(browser: Any, empty: Server) -> None:
    assert empty.post("/v1/interactions", {"id": "a", "question": "first"}).status == 200
    visit = Visit(browser, f"{empty.url}/")
    visit.page.get_by_role("button", name="Pause refreshing").click()
    assert empty.post("/v1/interactions", {"id": "b", "question": "second"}).status == 200
    assert "second" not in visit.page.locator("#live").inner_text()
    visit.page.locator("a", has_text="first").first.focus()
    visit.page.get_by_role("button", name="Refresh by itself").evaluate("node => node.click()")
    playwright.expect(visit.page.locator("#live")).to_contain_text("second")
    assert visit.page.evaluate("document.activeElement.textContent") == "first"
    assert visit.complaints == []


# ── nothing from outside runs ─────────────────────────────────────────────────────────────


def poisoned(payload: str, number: int, now: int) -> tuple[Interaction, ScoredInteraction]:
    """An interaction with the payload in every text that the page can show."""
    text = f"{payload} {number}"
    one = Interaction(
        id=text.replace("\x00", ""),
        at=now - 1_000_000 * (number + 1),
        question=text,
        contexts=Ranked((Chunk(text, f"{text} and a quote. {text}", 0.5), Chunk("b", text))),
        answer=text,
        reference=text,
        feedback=0.0,
        comment=text,
        language=payload,
        error=text if number % 3 == 0 else None,
        meta={payload: payload, "model": payload},
    )
    findings = (Finding(text, payload, payload, text, "and a quote", verified=False, span=(0, 5)),)
    scores = {
        f"m{payload}": Score(0.1, findings=findings, warnings=(payload,), label=payload),
        "faithfulness": Score(outcome="judge_error", kind="refusal", reason=payload, label=payload),
    }
    return one, ScoredInteraction(one.id, scores)


def test_no_text_from_outside_runs_or_loads_anything(browser: Any, tmp_path: Path) -> None:
    archive = Archive(Store.open(tmp_path / "s.db"))
    now = now_micros()
    pairs = [poisoned(payload, number, now) for number, payload in enumerate(PAYLOADS)]
    archive.add([one for one, _ in pairs]).result()
    archive.save_scores([scored for _, scored in pairs]).result()
    watched.keep(
        archive,
        [watched.drop(now + n, payload, pairs[n][0].id) for n, payload in enumerate(PAYLOADS)],
        now,
    )
    with in_thread(ServerSettings(), archive.store) as server:
        for number, payload in enumerate(PAYLOADS):
            lang = ("en", "es")[number % 2]
            odd = quote(payload)
            pages = [
                f"/?by={odd}&metric=m{odd}&lang={lang}",
                f"/?window={odd}&until={odd}&slice={odd}&by=model",
                f"/interaction?id={quote(pairs[number][0].id)}&slice=model:{odd}&lang={lang}",
            ]
            for page in pages:
                visit = Visit(browser, server.url + page)
                assert visit.page.locator("main").is_visible()
                for place in visit.page.locator(".claim:visible, summary:visible").all()[:2]:
                    place.focus()
                    place.hover()
                assert visit.page.evaluate("window.hit") is None
                assert visit.complaints == []
                assert all(url.startswith((server.url, "data:,")) for url in visit.requests)
                visit.page.context.close()
        shown = Visit(browser, f"{server.url}/interaction?id={quote(pairs[0][0].id)}")
        assert PAYLOADS[0] in shown.page.locator("h1").inner_text()


def test_an_address_cannot_name_code_to_load(empty: Server, tmp_path: Path) -> None:
    code, sign = tmp_path / "own.py", tmp_path / "ran"
    code.write_text(f"open({str(sign)!r}, 'w').close()\n")
    assert empty.post("/v1/interactions", {"question": "q"}).status == 200
    for name in (f"{code}:metric", "antigravity:metric", "antigravity.metric"):
        for where in ("metric", "by", "slice", "window"):
            assert empty.get(f"/?{where}={quote(name)}").status == 200
    assert not sign.exists()


def test_the_page_loads_only_its_own_script_and_style(empty: Server) -> None:
    answer = empty.get("/")
    assert "script-src 'self'" in answer.headers["Content-Security-Policy"]
    assert "style=" not in answer.body.decode()
    assert answer.body.decode().count("<script") == 1
    assert empty.get("/page.js").headers["Content-Type"].startswith("text/javascript")
    assert empty.get("/page.css").headers["Content-Type"].startswith("text/css")


def test_a_link_on_another_site_leads_here_but_nothing_else_does(busy: Server) -> None:
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}  # fmt: skip
    assert busy.get("/", **link).status == 200
    assert busy.get("/v1/status", **link).status == 403
    assert busy.get("/", **{**link, "Sec-Fetch-Dest": "iframe"}).status == 403
    assert busy.get("/page.js", **{**link, "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"}).status == 403  # fmt: skip
    assert busy.post("/logout", {}, **link).status == 403


def test_pages_and_reports_are_the_same_on_every_store(place: str) -> None:
    archive = Archive(Store.open(place))
    now = now_micros()
    watched.fill(archive, 60, now, days=1)
    watched.keep(archive, [watched.drop(now)], now)
    with in_thread(ServerSettings(), archive.store) as server:
        for metric in ("faithfulness", "feedback"):
            page = server.get(f"/?by=model&slice=model:small&metric={metric}").body.decode()
            assert "i-57" in page
            assert "i-58" not in page
        assert b"23 days of leave" in server.get("/interaction?id=i-57").body
    whole = analyse_period(archive, "daily", now + watched.DAY - now % watched.DAY)
    assert whole.report.now.interactions + whole.report.before.interactions == 60
    assert "# Daily report" in markdown.render(open_page(whole))


# ── the token ─────────────────────────────────────────────────────────────────────────────


def test_without_the_token_only_the_form_is_shown(closed: Server) -> None:
    for path in ("/", "/?window=7d", "/interaction?id=i-1", "/interaction?id=none"):
        answer = closed.get(path)
        assert answer.status == 401
        assert b"days of leave" not in answer.body
        assert b'type="password"' in answer.body
    assert closed.get("/v1/status").status == 401


def test_the_token_opens_the_page_and_a_wrong_one_does_not(browser: Any, closed: Server) -> None:
    visit = Visit(browser, f"{closed.url}/interaction?id=i-3")
    visit.page.get_by_label("Token").fill("wrong")
    visit.page.keyboard.press("Enter")
    playwright.expect(visit.page.get_by_role("alert")).to_have_text("This is not the token.")
    visit.page.get_by_label("Token").fill(TOKEN)
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_url("**/interaction?id=i-3")
    assert visit.page.locator(".chunk").count() == 2
    (cookie,) = visit.page.context.cookies()
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"
    assert TOKEN not in cookie["value"]
    visit.page.get_by_role("button", name="Sign out").click()
    playwright.expect(visit.page.get_by_label("Token")).to_be_visible()
    assert visit.page.context.cookies() == []
    shown = closed.get("/v1/status", Authorization=f"Bearer {TOKEN}")
    assert shown.json["counters"]["refused_token"] >= 1


@pytest.mark.parametrize(
    "to",
    ["//evil.invalid/", "https://evil.invalid", "/v1/status", "javascript:alert(1)", "..//x",
     "interaction/../../x?a=1", "\\\\evil.invalid", "./\r\nX: y"],
)  # fmt: skip
def test_signing_in_leads_nowhere_else(closed: Server, to: str) -> None:
    body = f"token={TOKEN}&to={quote(to)}".encode()
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = closed.ask("POST", "/login", None, kind, raw=body)
    assert answer.status == 303
    assert answer.headers["Location"] == "./"
    assert "X" not in answer.headers


def test_a_page_of_another_site_cannot_sign_in_or_out(closed: Server) -> None:
    kind = {"Content-Type": "application/x-www-form-urlencoded", "Origin": "http://evil.invalid"}
    for path in ("/login", "/logout"):
        answer = closed.ask("POST", path, None, kind, raw=f"token={TOKEN}".encode())
        assert answer.status == 403
        assert "Set-Cookie" not in answer.headers
    large = closed.ask("POST", "/login", None, {"Content-Type": "application/x-www-form-urlencoded"}, raw=b"token=" + b"x" * 20_000)  # fmt: skip
    assert large.status == 413
    assert closed.post("/login", {"token": TOKEN}).status == 415


def test_alerts_are_handled_by_forms_of_the_page_only(tmp_path: Path) -> None:
    archive = Archive(Store.open(tmp_path / "s.db"))
    now = now_micros()
    watched.fill(archive, 10, now, days=1)
    alert = watched.drop(now)
    watched.keep(archive, [alert], now)
    form = {"Content-Type": "application/x-www-form-urlencoded"}

    def send(text: str, **more: str) -> int:
        return server.ask("POST", "/alerts", None, {**form, **more}, raw=text.encode()).status

    with in_thread(ServerSettings(token=TOKEN), archive.store) as server:
        token = {"Authorization": f"Bearer {TOKEN}"}
        note = f"id={alert.id}&by=ana&act=note&text=%3Cb%3Eindex%3C%2Fb%3E"
        assert send(note) == 401
        assert send(note, **token, Origin="http://evil.invalid") == 403
        assert send(note, **token) == 303
        assert send(f"id={alert.id}&by=ana&act=ack", **token) == 303
        assert send(f"id={alert.id}&act=mute", **token) == 303
        assert send("id=unknown&by=ana&act=ack", **token) == 422
        assert send(f"id={alert.id}&act=delete", **token) == 422
        page = server.ask("GET", "/?window=24h", None, token).body.decode()
    assert "taken on by ana" in page
    assert "muted until" in page
    assert "&lt;b&gt;index&lt;/b&gt;" in page


@pytest.mark.parametrize(
    "value", ["a", "100%", "a_b", "año", 'q"x', "back\\slash", "!", 1, 1.0, 2.5, True, "true", ""]
)
def test_lists_hold_exactly_the_slice(place: str, value: Any) -> None:
    archive = Archive(Store.open(place))
    now = now_micros()
    others = ["aa", "100", "axb", "ano", "q", "back", "?", 11, 3, False, "truer", "x"]
    some = [
        Interaction(f"i-{n}", now - n - 1, f"question {n}", feedback=0.5, meta={"field": one, "b": "a"})
        for n, one in enumerate([value, *others])
    ]  # fmt: skip
    archive.add([*some, Interaction("none", now - 99, "q", language="a")]).result()
    archive.save_scores(
        [ScoredInteraction(one.id, {"faithfulness": Score(0.5)}) for one in some]
    ).result()
    where = ("field", some[0].slices["field"])
    for found in (
        load_recent(archive, 0, now, where, 5),
        load_worst(archive, "faithfulness", 0, now, where, 5),
        load_worst(archive, "feedback", 0, now, where, 5),
    ):
        assert [one.id for one in found] == ["i-0"]
    assert [one.id for one in load_recent(archive, 0, now, ("language", "a"), 5)] == ["none"]
    assert len(load_recent(archive, 0, now, None, 50)) == 14
    archive.store.close()
