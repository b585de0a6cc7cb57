// The page: opens the recordings that are in it, and shows one.
import { el } from "./dom";
import { follow, readFragment, writeFragment } from "./fragment";
import { Head } from "./head";
import { helpOf } from "./help";
import { type Key, obey } from "./keys";
import { MemoryView } from "./memory_view";
import css from "./player.css";
import { RegisterView } from "./register_view";
import { type Extras, Session } from "./session";
import { Source } from "./source";
import { StepView } from "./step_view";
import { nextTheme, setTheme } from "./theme";
import { Timeline } from "./timeline";
import { Track } from "./track";
import { fromBase64, unpackArrays } from "./unpack";
import { ValueView } from "./value_view";
import { WarpView } from "./warp_view";

interface Launch {
  file: string; // the id of the element that has it
  extras: Extras;
}

async function start(): Promise<void> {
  const root = document.querySelector<HTMLElement>(".wlp");
  const data = document.getElementById("wlp-launches");
  if (!root || !data?.textContent) return;
  document.head.append(el("style", {}, css));
  const launches = JSON.parse(data.textContent) as Launch[];
  const asked = readFragment().launch;
  let shown = asked !== null && asked >= 1 && asked <= launches.length ? asked - 1 : Math.max(launches.findIndex((l) => l.extras.start !== null), 0);
  const keys: Key[] = [];
  obey(keys);

  const open = async (n: number): Promise<void> => {
    shown = n;
    root.replaceChildren(el("p", { class: "opening", role: "status" }, "Opening the recording …"));
    const file = await fromBase64(document.getElementById(launches[n].file)?.textContent ?? "");
    const session = new Session(new Track(await unpackArrays(file)), launches[n].extras);
    Object.assign(window, { warplab: session }); // for the browser's console
    build(root, session, keys, file, n, launches, (k) => void open(k));
    requestAnimationFrame(() => (root.dataset.opened = String(Math.round(performance.now())))); // what there is to see is drawn; tests wait for it
  };
  try {
    await open(shown);
  } catch (e) {
    root.replaceChildren(el("p", { class: "opening", role: "alert" }, `The recording in this page cannot be opened: ${e instanceof Error ? e.message : String(e)}`));
  }
}

function build(
  root: HTMLElement, s: Session, keys: Key[], file: Uint8Array, launch: number, launches: Launch[], open: (n: number) => void,
): void {
  const registers = new RegisterView(s);
  const timeline = new Timeline(s);
  const source = new Source(s, (name) => registers.pick(name), (name) => registers.valueOf(name));
  const memory = new MemoryView(s);
  const step = new StepView(s);
  const warps = new WarpView(s);
  const value = new ValueView(s);
  const choice = launches.length < 2 ? null : el(
    "select", { "aria-label": "Launch", onchange: (e: Event) => open(Number((e.target as HTMLSelectElement).value)) },
    ...launches.map((l, n) => el("option", { value: n, selected: n === launch }, `${n + 1}: ${l.extras.title}`)),
  );
  const changeTheme = (): void => {
    setTheme(root, nextTheme(root));
    s.changed();
  };
  keys.splice(0, keys.length, ...keysOf(s, timeline, source, registers, memory, changeTheme, () => help.showModal(), () => head));
  const help = helpOf(keys);
  const head = new Head(s, choice, () => help.showModal(), changeTheme, () => save(file, s.extras.title));
  root.replaceChildren(
    head.element, ...notes(s), timeline.element,
    el("main", { class: "panels" }, source.element, el("div", { class: "middle" }, step.element, registers.element), el("div", { class: "right" }, memory.element, value.element, warps.element)),
    help,
  );
  let at = "";
  s.listen(() => {
    if (at !== `${s.step}|${s.lane}`) memory.moved();
    at = `${s.step}|${s.lane}`;
    for (const view of [head, source, registers, step, value, memory, warps]) view.update();
    timeline.draw();
    if (root.checkVisibility()) writeFragment(s, launch, launches.length > 1); // not beside a report that is shown
  });
  const first = s.extras.start ?? (s.rec.track.header.ended ? { step: s.rec.stepCount - 1, lane: s.lane } : null);
  if (!follow(s, readFragment()) && first) s.go(first.step, first.lane);
  window.onhashchange = () => {
    const f = readFragment();
    if (f.launch !== null && f.launch - 1 !== launch && f.launch <= launches.length) open(f.launch - 1);
    else follow(s, f);
  };
  window.matchMedia("(prefers-color-scheme: dark)").onchange = () => s.changed();
  s.changed();
}

/** What is missing, and what went wrong, in a line each; a click leads there. */
function notes(s: Session): HTMLElement[] {
  const { rec } = s;
  const out: HTMLElement[] = [];
  if (s.extras.note) out.push(el("p", { class: "note" }, s.extras.note));
  const bad = rec.events.filter((e) => e.kind === "fault" || e.kind === "finding");
  for (const e of bad.slice(0, 6)) {
    const set = rec.set(e.lanes);
    const holds = set.flag(e.mask);
    let place = 0;
    while (place < set.size - 1 && !(holds(place) && set.isAlive(place))) place++;
    const lane = set.number(place);
    out.push(el(
      "p", { class: `note ${e.kind}` }, el("b", {}, e.kind), el("span", {}, e.text.split("\n")[0]),
      el("button", { class: "flat", onclick: () => s.go(e.step, lane, true) }, `go to step ${e.step}`),
    ));
  }
  if (bad.length > 6) out.push(el("p", { class: "note" }, `… and ${bad.length - 6} more: n goes to the next one of the warp`));
  if (rec.track.header.ended && !bad.some((e) => e.kind === "fault")) {
    out.push(el("p", { class: "note fault" }, el("b", {}, "ended early"), el("span", { class: "all" }, rec.track.header.ended)));
  }
  return out;
}

function keysOf(
  s: Session, timeline: Timeline, source: Source, registers: RegisterView, memory: MemoryView, theme: () => void, help: () => void, head: () => Head,
): Key[] {
  const key = (keys: string, shown: string, does: string, run: (e: KeyboardEvent) => void): Key => ({ keys: keys.split(" "), shown, does, run });
  const zooms = (n: number): (() => void) => () => timeline.zoom(n);
  return [
    key("ArrowRight l", "→", "next step of the warp", () => s.stepBy(1)),
    key("ArrowLeft h", "←", "previous step of the warp", () => s.stepBy(-1)),
    key("Shift+ArrowRight L", "Shift+→", "ten steps on", () => s.stepBy(10)),
    key("Shift+ArrowLeft H", "Shift+←", "ten steps back", () => s.stepBy(-10)),
    key("ArrowDown j", "↓", "next lane", () => s.laneBy(1)),
    key("ArrowUp k", "↑", "previous lane", () => s.laneBy(-1)),
    key("]", "]", "next warp", () => s.warpBy(1)),
    key("[", "[", "previous warp", () => s.warpBy(-1)),
    key("}", "}", "next block", () => s.blockBy(1)),
    key("{", "{", "previous block", () => s.blockBy(-1)),
    key("Home", "Home", "first step", () => s.go(0, s.lane, true)),
    key("End", "End", "last step", () => s.go(s.rec.stepCount, s.lane, true)),
    key("n", "n", "next divergence, barrier, fault or finding of the warp", () => s.eventBy(1)),
    key("N p", "N", "previous one", () => s.eventBy(-1)),
    key("g", "g", "go to a step by its number", () => head().focusStep()),
    key("G", "G", "go to a thread: 17, or 3:17 for block 3", () => head().focusThread()),
    key("b Backspace", "b", "back to where you were", () => s.back()),
    key("+ =", "+", "zoom in", zooms(0.5)),
    key("-", "−", "zoom out", zooms(2)),
    key("0", "0", "the whole launch", () => timeline.whole()),
    key("s", "s", "rows: lanes, warps, blocks", () => timeline.setScope(s.scope === "lanes" ? "warps" : s.scope === "warps" ? "blocks" : "lanes")),
    key("c", "c", "PTX, or the source that it was compiled from", () => source.toggle()),
    key("w", "w", "where the value comes from that this step writes, or that is chosen", () => s.why()),
    key("W", "W", "every write of the element that this step accesses, or that is chosen", () => s.writers()),
    key("m", "m", "next array in memory", () => memory.next()),
    key("P", "P", "the array as a picture, or as numbers", () => memory.togglePicture()),
    key("x", "x", "registers in hexadecimal", () => registers.toggleHex()),
    key("t", "t", "colours: as the system has them, light, dark", theme),
    key("?", "?", "this help", help),
    key("Escape", "Esc", "close the value", () => { s.chosen = null; (document.activeElement as HTMLElement | null)?.blur(); s.changed(); }),
  ];
}

function save(file: Uint8Array, name: string): void {
  const link = el("a", { href: URL.createObjectURL(new Blob([file as BlobPart])), download: `${name.replace(/\W+/g, "_")}.wlrec` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

void start();
