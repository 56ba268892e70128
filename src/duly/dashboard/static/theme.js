// Light or dark as the system has it, until somebody says otherwise; a cookie lets the server write it into the page.

export function switchTheme() {
  const button = document.querySelector("[data-theme-switch]");
  button?.addEventListener("click", () => {
    const root = document.documentElement;
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const present = root.dataset.theme || (dark ? "dark" : "light");
    const next = present === "dark" ? "light" : "dark";
    root.dataset.theme = next;
    const path = new URL(document.body.dataset.root || "./", location.href).pathname;
    document.cookie = `duly_theme=${next}; Path=${path}; Max-Age=31536000; SameSite=Strict`;
  });
}
