// The keyboard: every key with what it does, which the help lists.

export interface Key {
  keys: string[]; // as events name them
  shown: string;
  does: string;
  run: (e: KeyboardEvent) => void;
}

/** Obeys keys anywhere in the page but in fields; panels that use one of them themselves stop it. */
export function obey(keys: Key[]): void {
  document.addEventListener("keydown", (e) => {
    if (e.altKey || e.ctrlKey || e.metaKey || !document.querySelector(".wlp")?.checkVisibility()) return;
    if (document.querySelector("dialog[open]")) return;
    const target = e.target as HTMLElement;
    if (/^(input|select|textarea)$/i.test(target.tagName) && e.key !== "Escape") return;
    const name = e.shiftKey && e.key.startsWith("Arrow") ? `Shift+${e.key}` : e.key;
    const found = keys.find((k) => k.keys.includes(name));
    if (!found) return;
    e.preventDefault();
    found.run(e);
  });
}
