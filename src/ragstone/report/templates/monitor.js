// Refreshes the live page by itself and offers the reader's own time zone; everything on it works without this.
(() => {
  "use strict";
  const zones = document.getElementById("zones");
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (zones && own && ![...zones.options].some((option) => option.value === own)) zones.prepend(new Option(own, own));
  const box = document.getElementById("refresh");
  if (!box) return;
  const [note, button] = [box.querySelector("output"), box.querySelector("button")];
  const parts = ["state", "live"];
  const refreshSeconds = 30;
  let paused = false;
  let waiting = 0;

  const labelButton = () => {
    button.textContent = paused ? box.dataset.go : box.dataset.pause;
    button.setAttribute("aria-pressed", String(paused));
  };
  // the focused element as a selector: the nodes themselves are replaced by each refresh
  const describeFocus = () => {
    const node = document.activeElement;
    if (!node || !node.closest("#live")) return null;
    return node.id ? `#${CSS.escape(node.id)}` : node.getAttribute("href") && `a[href="${CSS.escape(node.getAttribute("href"))}"]`;
  };
  const isBusy = () => {
    const chosen = document.getSelection();
    return document.hidden || paused || (chosen && !chosen.isCollapsed) || document.activeElement?.closest("form");
  };
  const replaceParts = (fresh) => {
    const focused = describeFocus();
    const open = new Map([...document.querySelectorAll("#live details[id]")].map((details) => [details.id, details.open]));
    for (const id of parts) {
      const [old, young] = [document.getElementById(id), fresh.getElementById(id)];
      if (!old || !young) return false;
      old.replaceChildren(...young.childNodes);
    }
    for (const details of document.querySelectorAll("#live details[id]")) if (open.has(details.id)) details.open = open.get(details.id);
    if (focused) document.querySelector(`#live ${focused}`)?.focus({ preventScroll: true });
    return true;
  };
  const refresh = async () => {
    try {
      const reply = await fetch(location.href, { credentials: "same-origin", cache: "no-store" });
      if (reply.status === 401) return location.reload();
      if (!reply.ok) throw new Error(String(reply.status));
      const fresh = new DOMParser().parseFromString(await reply.text(), "text/html");
      if (!isBusy() && replaceParts(fresh)) note.textContent = box.dataset.done.replace("{time}", new Date().toLocaleTimeString(document.documentElement.lang));
    } catch {
      note.textContent = box.dataset.away;
    }
  };
  const tick = async () => {
    if (!isBusy()) await refresh();
    waiting = setTimeout(tick, refreshSeconds * 1000);
  };

  button.addEventListener("click", () => {
    paused = !paused;
    labelButton();
    if (!paused) refresh();
  });
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && !isBusy()) refresh();
  });
  labelButton();
  box.hidden = false;
  if ("still" in box.dataset) {
    paused = true;
    labelButton();
  }
  waiting = setTimeout(tick, refreshSeconds * 1000);
})();
