type Theme = "light" | "dark";

/** Light or dark: what was chosen here, else what the system says. `static/theme.js` sets it before the first paint. */
class ThemeChoice {
  current = $state<Theme>(document.documentElement.classList.contains("dark") ? "dark" : "light");

  toggle(): void {
    this.current = this.current === "dark" ? "light" : "dark";
    document.documentElement.classList.toggle("dark", this.current === "dark");
    localStorage.setItem("theme", this.current);
  }
}

export const theme = new ThemeChoice();
