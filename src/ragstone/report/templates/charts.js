// Charts over time react: a value under the pointer or by arrow keys, a click leads to its window, dragging to a stretch.
// The picture is the server's and says the same without this.
{
  const points = (svg) => [...svg.querySelectorAll("circle")].map((dot) => ({ x: Number(dot.getAttribute("cx")), text: dot.textContent })).filter((point) => point.text);
  const toX = (svg, event) => {
    const box = svg.getBoundingClientRect();
    return ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
  };
  const makeShape = (svg, name, kind) => {
    const shape = document.createElementNS("http://www.w3.org/2000/svg", name);
    shape.setAttribute("class", kind);
    svg.append(shape);
    return shape;
  };
  const read = (svg) => {
    let readout = svg.nextElementSibling;
    if (!readout?.matches(".readout")) {
      readout = document.createElement("output");
      readout.className = "readout";
      svg.after(readout);
    }
    return readout;
  };
  const show = (svg, index) => {
    const all = points(svg);
    const point = all[Math.min(Math.max(index, 0), all.length - 1)];
    if (!point) return;
    svg.dataset.index = String(all.indexOf(point));
    read(svg).textContent = point.text;
    const guide = svg.querySelector(".guide") ?? makeShape(svg, "line", "guide");
    for (const [name, value] of [["x1", point.x], ["x2", point.x], ["y1", 0], ["y2", svg.viewBox.baseVal.height - 24]]) guide.setAttribute(name, value);
  };
  const nearest = (svg, x) => {
    const all = points(svg);
    return all.reduce((best, point, index) => (Math.abs(point.x - x) < Math.abs(all[best].x - x) ? index : best), 0);
  };
  const goTo = (svg, from, to) => {
    const { since, until, left, right } = svg.dataset;
    const time = (x) => Number(since) + ((Math.min(Math.max(x, left), right) - left) / (right - left)) * (until - since);
    const [begin, end] = [time(from), time(to)].sort((a, b) => a - b);
    const address = new URL(location.href);
    address.searchParams.set("window", `${Math.max(1, Math.round((end - begin) / 6e7))}m`);
    address.searchParams.set("until", new Date(end / 1000).toISOString());
    location.assign(address);
  };
  // one step of the series around a point
  const open = (svg, index) => {
    const all = points(svg);
    const step = all.length > 1 ? Math.min(...all.slice(1).map((point, n) => point.x - all[n].x)) : svg.dataset.right - svg.dataset.left;
    if (all[index]) goTo(svg, all[index].x - step / 2, all[index].x + step / 2);
  };
  const find = (event) => event.target.closest?.("svg[data-since]");
  let drag = null;
  document.addEventListener("pointermove", (event) => {
    const svg = drag?.svg ?? find(event);
    if (!svg) return;
    const x = toX(svg, event);
    show(svg, nearest(svg, x));
    if (!drag) return;
    drag.to = x;
    for (const [name, value] of [["x", Math.min(drag.from, x)], ["width", Math.abs(x - drag.from)], ["height", svg.viewBox.baseVal.height - 24]]) drag.box.setAttribute(name, value);
  });
  document.addEventListener("pointerdown", (event) => {
    const svg = find(event);
    if (!svg || event.button) return;
    event.preventDefault();
    svg.focus();
    drag = { svg, from: toX(svg, event), to: toX(svg, event), box: makeShape(svg, "rect", "brush") };
  });
  document.addEventListener("pointerup", () => {
    if (!drag) return;
    const { svg, from, to, box } = drag;
    drag = null;
    box.remove();
    if (Math.abs(to - from) > 6) goTo(svg, from, to);
    else open(svg, nearest(svg, to));
  });
  document.addEventListener("keydown", (event) => {
    const svg = find(event);
    if (!svg) return;
    const index = Number(svg.dataset.index ?? -1);
    if (event.key === "ArrowRight") show(svg, index + 1);
    else if (event.key === "ArrowLeft") show(svg, index - 1);
    else if (event.key === "Enter") open(svg, index);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  const prepare = () => {
    for (const svg of document.querySelectorAll("svg[data-since]:not([tabindex])")) svg.setAttribute("tabindex", "0");
  };
  prepare();
  const changing = document.getElementById("live");
  if (changing) new MutationObserver(prepare).observe(changing, { childList: true });
}
