// Filters and sorts the samples that are already on the page; without it all of them are simply listed.
(() => {
  "use strict";
  const form = document.getElementById("filter");
  const list = document.getElementById("list");
  if (!form || !list) return;
  const counter = form.querySelector("output");
  const empty = document.getElementById("nothing");
  const { text, metric, outcome } = form.elements;
  const samples = [...list.children].map((node, at) => ({
    node,
    at,
    values: JSON.parse(node.dataset.values),
    outcomes: JSON.parse(node.dataset.outcomes),
    labels: JSON.parse(node.dataset.labels),
    words: null,
  }));
  const fold = (words) => words.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

  const hasText = (sample, wanted) => {
    if (!wanted) return true;
    sample.words ??= fold(sample.node.textContent);
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

  const order = (chosen) => {
    if (chosen < 0) return [...samples];
    const up = metric.selectedOptions[0].dataset.higher === "1" ? 1 : -1;
    const worth = (sample) => (sample.values[chosen] === null ? -Infinity : up * sample.values[chosen]);
    return [...samples].sort((a, b) => {
      const [x, y] = [worth(a), worth(b)];
      return x === y ? a.at - b.at : x - y;
    });
  };

  let sortedBy = -1;
  const apply = () => {
    const chosen = Number(metric.value);
    const wanted = fold(text.value.trim());
    let shown = 0;
    for (const sample of samples) {
      const fits = hasOutcome(sample, chosen, outcome.value) && hasText(sample, wanted);
      sample.node.hidden = !fits;
      shown += fits;
    }
    if (chosen !== sortedBy) {
      list.append(...order(chosen).map((sample) => sample.node));
      sortedBy = chosen;
    }
    const say = (n) => n.toLocaleString(document.documentElement.lang);
    counter.textContent = form.dataset.shown.replace("{shown}", say(shown)).replace("{total}", say(samples.length));
    empty.hidden = shown > 0;
  };

  let waiting = 0;
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(apply, 120);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(apply));
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
