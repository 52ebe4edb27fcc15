// Names for those who hear the page: the theme gives its search dialog and the buttons of its code blocks none.
(() => {
  const es = document.documentElement.lang === "es";
  const name = () => {
    const search = document.querySelector('.md-search[role="dialog"]');
    if (search) search.setAttribute("aria-label", es ? "Búsqueda" : "Search");
    document.querySelectorAll(".md-code__nav").forEach((nav, n) => {
      const label = (es ? "Código " : "Code block ") + (n + 1);
      if (nav.getAttribute("aria-label") !== label) nav.setAttribute("aria-label", label);
    });
  };
  name();
  new MutationObserver(name).observe(document.body, { childList: true, subtree: true });
})();
