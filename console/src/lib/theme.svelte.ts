type Theme = "light" | "dark";

/** The user's theme, or else the system's. `static/before-app.js` applies the theme before the first paint. */
class ThemeChoice {
  current = $state<Theme>(document.documentElement.classList.contains("dark") ? "dark" : "light");

  constructor() {
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", ({ matches }) => {
      if (!localStorage.getItem("theme")) this.#show(matches ? "dark" : "light");
    });
  }

  toggle(): void {
    this.#show(this.current === "dark" ? "light" : "dark");
    localStorage.setItem("theme", this.current);
  }

  #show(theme: Theme): void {
    this.current = theme;
    document.documentElement.classList.toggle("dark", theme === "dark");
  }
}

export const theme = new ThemeChoice();
