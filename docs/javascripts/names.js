// Names for those who hear the page: the theme gives its search dialog and the buttons of its code blocks none.
// And tables wider than the page can be reached, and so scrolled, by keyboard; long names in them break after _ and /.
(() => {
  const es = document.documentElement.lang === "es";
  const name = () => {
    const search = document.querySelector('.md-search[role="dialog"]');
    if (search) search.setAttribute("aria-label", es ? "Búsqueda" : "Search");
    document.querySelectorAll(".md-code__nav").forEach((nav, n) => {
      const label = (es ? "Código " : "Code block ") + (n + 1);
      if (nav.getAttribute("aria-label") !== label) nav.setAttribute("aria-label", label);
    });
    document.querySelectorAll(".md-typeset__scrollwrap").forEach((wrap) => {
      if (wrap.scrollWidth > wrap.clientWidth) wrap.tabIndex = 0;
      else wrap.removeAttribute("tabindex");
    });
  };
  document.querySelectorAll(".md-typeset td:not(:first-child) code").forEach((code) => {
    if (!code.children.length)
      code.innerHTML = code.innerHTML.replace(/[_/](?=\w)/g, "$&<wbr>");
  });
  name();
  addEventListener("resize", name);
  new MutationObserver(name).observe(document.body, { childList: true, subtree: true });
})();
