// Switches between light and dark, and keeps the choice; without it the system decides.
{
  const button = document.getElementById("theme");
  const root = document.documentElement;
  const isDark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const show = () => button.setAttribute("aria-pressed", String(isDark()));
  button?.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    document.cookie = `ragstone_theme=${root.dataset.theme}; max-age=31536000; samesite=strict; path=${location.pathname.replace(/[^/]*$/, "")}`;
    show();
  });
  if (button) {
    button.hidden = false;
    show();
  }
}
