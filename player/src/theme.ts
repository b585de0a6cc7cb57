// Light and dark: as the system has it, or as the switch says.

const NAMES = { auto: "as the system", light: "light", dark: "dark" } as const;
export type Theme = keyof typeof NAMES;

export function setTheme(root: HTMLElement, theme: Theme): void {
  for (const one of [root, document.documentElement]) {
    if (theme === "auto") delete one.dataset.theme;
    else one.dataset.theme = theme;
  }
  root.querySelector<HTMLElement>("[data-switch=theme]")?.setAttribute("title", `Colours: ${NAMES[theme]} (t)`);
}

export function nextTheme(root: HTMLElement): Theme {
  const isDark = window.matchMedia("(prefers-color-scheme: dark)").matches;
  const order: Theme[] = isDark ? ["auto", "light", "dark"] : ["auto", "dark", "light"];
  const now = (root.dataset.theme ?? "auto") as Theme;
  return order[(order.indexOf(now) + 1) % 3];
}
