// Small helps of the viewer; every page can be read without them.
const live = document.getElementById("live");

// A list of runs with an unfinished one, and the progress of an index, refresh themselves.
const seconds = Number(live?.dataset.live ?? 0);
const isBusy = () => document.hidden || document.activeElement?.closest("form, details") || !document.getSelection().isCollapsed;
const refresh = async () => {
  if (isBusy()) return;
  const reply = await fetch(location.href, { credentials: "same-origin", cache: "no-store" });
  if (!reply.ok) return;
  const fresh = new DOMParser().parseFromString(await reply.text(), "text/html").getElementById("live");
  if (!fresh) return location.reload();
  live.replaceChildren(...fresh.childNodes);
  if (!fresh.dataset.live) clearInterval(ticking);
};
const ticking = seconds ? setInterval(() => refresh().catch(() => {}), seconds * 1000) : 0;

// Links that have a key are followed by it, forms too: left and right lead to the sample before and after.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  if (event.key === "/") {
    const search = document.querySelector("input[type=search]");
    if (search) {
      event.preventDefault();
      search.focus();
    }
    return;
  }
  const target = document.querySelector(`[data-key~="${CSS.escape(event.key)}"]`);
  if (target) {
    event.preventDefault();
    target.click();
  }
});
