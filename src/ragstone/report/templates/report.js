// Filters and sorts all samples of the page; those beyond the first are packed and drawn when they are wanted.
(async () => {
  "use strict";
  const form = document.getElementById("filter");
  const list = document.getElementById("list");
  if (!form || !list) return;
  const counter = form.querySelector("output");
  const empty = document.getElementById("nothing");
  const moreButton = document.getElementById("more");
  const { text, metric, outcome } = form.elements;
  const step = 200;
  let limit = step;

  const unpack = async () => {
    const rest = document.getElementById("rest");
    if (!rest) return [];
    const bytes = Uint8Array.from(atob(rest.textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    rest.remove();
    return JSON.parse(await new Response(stream).text());
  };
  const toElement = (html) => {
    const template = document.createElement("template");
    template.innerHTML = html;
    return template.content.firstElementChild;
  };
  const end = "</summary>";
  // The figures stand in attributes of the first tag, as JSON without < > & and quotes.
  const read = (html, name) => JSON.parse(html.slice(html.indexOf(`data-${name}='`) + name.length + 7).split("'", 1)[0]);
  const packed = (html, at) => ({ at, html, node: null, values: read(html, "values"), outcomes: read(html, "outcomes"), labels: read(html, "labels"), words: null });
  const drawn = (node, at) => ({
    at,
    html: "",
    node,
    values: JSON.parse(node.dataset.values),
    outcomes: JSON.parse(node.dataset.outcomes),
    labels: JSON.parse(node.dataset.labels),
    words: null,
  });
  const draw = (sample) => {
    if (sample.node) return sample.node;
    const [head, body] = [sample.html.slice(0, sample.html.indexOf(end) + end.length), sample.html.slice(sample.html.indexOf(end) + end.length)];
    sample.node = toElement(`${head}</details></article>`);
    const details = sample.node.querySelector("details");
    details.addEventListener("toggle", () => details.append(toElement(body.trim())), { once: true });
    return sample.node;
  };

  const first = [...list.children].map(drawn);
  const samples = first.concat((await unpack()).map((html, n) => packed(html, first.length + n)));
  const fold = (words) => words.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

  const hasText = (sample, wanted) => {
    if (!wanted) return true;
    sample.words ??= fold((sample.html ? toElement(sample.html) : sample.node).textContent);
    return sample.words.includes(wanted);
  };
  const hasOutcome = (sample, chosen, wanted) => {
    const columns = chosen < 0 ? sample.outcomes.map((_, n) => n) : [chosen];
    if (!wanted) return chosen < 0 || sample.values[chosen] !== null || sample.outcomes[chosen] !== "";
    const [kind, name] = [wanted[0], wanted.slice(2)];
    if (kind === "l") return columns.some((n) => sample.labels[n] === name);
    if (name === "") return columns.some((n) => sample.outcomes[n] !== "");
    if (name === "ok") return columns.every((n) => sample.outcomes[n] === "");
    return columns.some((n) => sample.outcomes[n] === name);
  };

  const order = (fitting, chosen) => {
    if (chosen < 0) return fitting;
    const up = metric.selectedOptions[0].dataset.higher === "1" ? 1 : -1;
    const worth = (sample) => (sample.values[chosen] === null ? -Infinity : up * sample.values[chosen]);
    return fitting.sort((a, b) => {
      const [x, y] = [worth(a), worth(b)];
      return x === y ? a.at - b.at : x - y;
    });
  };

  const apply = () => {
    const chosen = Number(metric.value);
    const wanted = fold(text.value.trim());
    const fitting = order(samples.filter((sample) => hasOutcome(sample, chosen, outcome.value) && hasText(sample, wanted)), chosen);
    list.replaceChildren(...fitting.slice(0, limit).map(draw));
    moreButton.hidden = fitting.length <= limit;
    const say = (n) => n.toLocaleString(document.documentElement.lang);
    counter.textContent = form.dataset.shown.replace("{shown}", say(fitting.length)).replace("{total}", say(samples.length));
    empty.hidden = fitting.length > 0;
  };

  let waiting = 0;
  const restart = () => {
    limit = step;
    apply();
  };
  moreButton.addEventListener("click", () => {
    limit += step;
    apply();
  });
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(restart, 120);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(restart));
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      text.focus();
    }
  });
  form.hidden = false;
  apply();
})();
