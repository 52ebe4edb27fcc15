// The review page: rows by keys, the sample beside them without a new page, stretches of a histogram, labels by keys.
// Everything is a link or a form that works without this.
const review = document.querySelector(".review");
if (review) {
  const pane = document.getElementById("pane");
  const rows = () => [...document.querySelectorAll(".grid a[data-at]")];
  const find = () => rows().findIndex((link) => link.hasAttribute("aria-current"));

  // ── the sample beside the list ──
  let wanted = 0;
  const show = async (href) => {
    const number = ++wanted;
    const query = href.slice(href.indexOf("?"));
    const reply = await fetch(`pane${query}`, { credentials: "same-origin" });
    if (!reply.ok) return location.assign(href);
    const html = await reply.text();
    if (number !== wanted) return; // a later row was asked for meanwhile
    pane.innerHTML = html;
    pane.scrollTop = 0;
    history.replaceState(null, "", href);
    const at = new URLSearchParams(query).get("at");
    for (const link of rows()) {
      const isIt = link.dataset.at === at;
      link.toggleAttribute("aria-current", isIt);
      if (isIt) link.setAttribute("aria-current", "true");
      link.closest("tr").classList.toggle("current", isIt);
      if (isIt) link.closest("tr").scrollIntoView({ block: "nearest" });
    }
    review.classList.add("chosen");
  };
  const step = (by) => {
    const [all, at] = [rows(), find()];
    const next = all[at + by];
    if (next) return show(next.getAttribute("href"));
    // past the end of this page of the list
    const link = pane.querySelector(by > 0 ? ".steps a[rel=next]" : ".steps a[rel=prev]");
    return link && show(link.getAttribute("href"));
  };
  document.querySelector(".grid")?.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    const row = event.target.closest("tbody tr");
    const link = row?.querySelector("a[data-at]");
    if (!link) return;
    event.preventDefault();
    const cell = event.target.closest("td");
    const runs = document.querySelectorAll(".grid thead kbd").length;
    const column = runs && cell ? cell.cellIndex - (row.cells.length - 1 - runs) : 0;
    show(link.getAttribute("href") + (column > 0 ? `&column=${column}` : ""));
  });
  pane.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    const link = event.target.closest(".steps a:not(.close), a[data-column]");
    if (link) {
      event.preventDefault();
      show(link.getAttribute("href"));
    } else if (event.target.closest("a.close")) {
      event.preventDefault();
      close();
    }
  });
  const close = () => {
    review.classList.remove("chosen");
    rows()[Math.max(find(), 0)]?.focus();
  };

  // ── labels ──
  const label = async (button) => {
    const form = button.form;
    const body = new URLSearchParams(new FormData(form, button));
    const reply = await fetch(form.action, { method: "POST", body, credentials: "same-origin", redirect: "manual" });
    if (reply.type !== "opaqueredirect" && !reply.ok) return location.reload();
    form.classList.add("done");
    for (const other of form.querySelectorAll("button")) other.classList.toggle("given", other === button);
    const item = form.closest("li");
    // the next claim, or the next answer
    if (!item) return step(1);
    item.nextElementSibling?.querySelector("button").focus();
  };
  pane.addEventListener("submit", (event) => {
    if (!event.target.matches("[data-unit]") || !event.submitter) return;
    event.preventDefault();
    label(event.submitter);
  });
  const labelByKey = (key) => {
    const unit = document.activeElement?.closest("[data-unit]") ?? pane.querySelector("[data-unit]");
    const button = unit?.querySelector(`[data-label=${key}]`) ?? (key === "c" ? unit?.querySelector("[data-label=n]") : null);
    button?.click();
  };

  const openTestset = () => {
    const details = document.getElementById("to-testset");
    if (!details) return;
    details.open = true;
    details.querySelector("input[name=name]").focus();
  };

  // ── a stretch of a histogram ──
  const format = (value) => String(Number(value.toPrecision(3)));
  for (const figure of document.querySelectorAll(".hist")) {
    const svg = figure.querySelector("svg");
    const [low, high] = [Number(figure.dataset.low), Number(figure.dataset.high)];
    const output = figure.querySelector("output");
    let from = null;
    const brush = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    brush.setAttribute("class", "brush");
    brush.setAttribute("height", "100%");
    const place = (event) => {
      const box = svg.getBoundingClientRect();
      return Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
    };
    const values = (a, b) => [a, b].sort((x, y) => x - y).map((share) => format(low + share * (high - low)));
    svg.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      from = place(event);
      event.preventDefault();
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener("pointermove", (event) => {
      const to = place(event);
      output.textContent = from === null ? format(low + to * (high - low)) : values(from, to).join(" – ");
      if (from === null) return;
      const wide = svg.viewBox.baseVal.width;
      brush.setAttribute("x", Math.min(from, to) * wide);
      brush.setAttribute("width", Math.abs(to - from) * wide);
      svg.append(brush);
    });
    svg.addEventListener("pointerleave", () => {
      if (from === null) output.textContent = "";
    });
    svg.addEventListener("pointerup", (event) => {
      const [begin, to] = [from, place(event)];
      from = null;
      brush.remove();
      if (begin === null) return;
      if (Math.abs(to - begin) < 0.02) {
        // a click leads where the bar under it leads
        const bar = document.elementsFromPoint(event.clientX, event.clientY).find((node) => node.closest("a"));
        if (bar) location.assign(bar.closest("a").getAttribute("href"));
        return;
      }
      const address = new URL(location.href);
      const others = address.searchParams.getAll("range").filter((text) => !text.startsWith(`${figure.dataset.metric}:`));
      for (const name of ["range", "page", "at"]) address.searchParams.delete(name);
      for (const text of [...others, `${figure.dataset.metric}:${values(begin, to).join(":")}`]) address.searchParams.append("range", text);
      location.assign(address);
    });
  }

  // ── a short link to what is seen ──
  const keep = document.getElementById("keep");
  const tell = (text) => {
    const output = keep.querySelector("output");
    output.textContent = text;
    output.scrollIntoView({ block: "nearest" });
  };
  const share = async () => {
    keep.elements.address.value = `review${location.search}`;
    const body = new URLSearchParams({ address: keep.elements.address.value, do: "share" });
    const reply = await fetch("views", { method: "POST", body, credentials: "same-origin" });
    const id = new URL(reply.url).searchParams.get("shared");
    if (!reply.ok || !id) return;
    const link = new URL(`v?id=${id}`, location.href).href;
    tell(link);
    await navigator.clipboard?.writeText(link).catch(() => {});
  };
  keep?.addEventListener("submit", (event) => {
    keep.elements.address.value = `review${location.search}`;
    if (event.submitter?.value !== "share") return;
    event.preventDefault();
    share();
  });
  document.querySelector("[data-copy]")?.addEventListener("click", (event) => {
    event.preventDefault();
    share();
  });

  // ── the form, and keys ──
  for (const select of document.querySelectorAll("[data-apply]")) select.addEventListener("change", () => select.form.requestSubmit());
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    const help = document.getElementById("keys");
    if (help.open) return;
    const { key } = event;
    if (key === "j" || key === "ArrowDown") step(1);
    else if (key === "k" || key === "ArrowUp") step(-1);
    else if (/^[1-9]$/.test(key)) pane.querySelector(`a[data-column="${key}"]`)?.click();
    else if (/^[scnu]$/.test(key)) labelByKey(key);
    else if (key === "t") openTestset();
    else if (key === "?") help.showModal();
    else if (key === "Escape") close();
    else return;
    event.preventDefault();
  });
}
