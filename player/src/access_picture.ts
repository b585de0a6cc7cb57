// An access drawn: lanes above, and below the sectors of global memory or the banks of shared memory that they reach.
import { el, plural, svg } from "./dom";
import { WARP } from "./lanes";
import type { Access } from "./memory";
import type { Session } from "./session";
import { countOf } from "./values";

const WIDE = 424;
const CELL = WIDE / WARP;
const HIGH = 118;
const SECTOR = 32;
const BANKS = 32;
const MOST = 32; // sectors that are drawn

export function accessPicture(s: Session, a: Access): HTMLElement | null {
  const { rec, warp, own } = s;
  const places = rec.placesIn(warp, a.set);
  if (!places) return null;
  const reach = s.memory.reacher(a);
  const address = new Array<number>(WARP).fill(-1);
  let mask = 0;
  let space = "";
  for (let lane = 0; lane < WARP; lane++) {
    const r = places[lane] >= 0 ? reach(rec.set(a.set), places[lane]) : null;
    if (!r) continue;
    address[lane] = r.address;
    space = r.space;
    mask |= 1 << lane;
  }
  if (!mask || !space) return null;
  const verb = { ld: "reads", st: "writes", atom: "updates", red: "updates" }[a.kind] ?? a.kind;
  const first = address.findIndex((x) => x >= 0);
  const object = s.memory.objectAt(space, address[first]);
  const cost = s.extras.costs.counts[`${a.n}`]?.[warpPlace(s, a)];
  const units = space === "shared" ? ["pass", "passes"] : ["sector", "sectors"];
  const said = cost === undefined ? "" : `, ${cost} ${cost === 1 ? units[0] : units[1]}`;
  const ideal = space === "shared" ? Math.max(Math.ceil((countOf(mask) * a.size) / 128), 1) : Math.max(Math.ceil((new Set(address.filter((x) => x >= 0)).size * a.size) / SECTOR), 1);
  const more = cost !== undefined && cost > ideal ? ` where ${ideal} would do` : "";
  const title = `${plural(countOf(mask), "lane")} ${countOf(mask) === 1 ? verb : verb.replace(/s$/, "")} ${a.size} B each in ${space} memory${object ? ` (${object.name})` : ""}${said}${more}`;
  return el("figure", { class: "access" }, el("figcaption", {}, title), draw(address, mask, a.size, space, own, title));
}

/** The place of the warp among those of an access's lanes. */
function warpPlace(s: Session, a: Access): number {
  const set = s.rec.set(a.set);
  const before = new Set<number>();
  const own = s.rec.warpNumber(s.warp.first);
  for (let p = 0; p < set.size; p++) {
    const w = s.rec.warpNumber(set.number(p));
    if (w < own) before.add(w);
  }
  return before.size;
}

function draw(address: number[], mask: number, size: number, space: string, own: number, label: string): SVGElement {
  const out = svg("svg", { viewBox: `-2 -2 ${WIDE + 4} ${HIGH + 4}`, role: "img", "aria-label": label });
  const low = HIGH - 26;
  const goals: { x: number; wide: number }[] = []; // of lanes
  if (space === "shared") {
    const load = new Array<Set<number>>(BANKS).fill(new Set()).map(() => new Set<number>());
    for (let lane = 0; lane < WARP; lane++) {
      const bank = Math.floor(address[lane] / 4) % BANKS;
      goals.push({ x: bank * CELL, wide: Math.max(CELL * Math.min(size / 4, BANKS - bank), CELL) });
      if (address[lane] < 0) continue;
      for (let k = 0; k < Math.max(size / 4, 1); k++) load[(bank + k) % BANKS].add(Math.floor(address[lane] / 4) + k);
    }
    load.forEach((words, bank) => {
      const busy = words.size ? (words.size > Math.max(size / 4, 1) ? "cell busy hot" : "cell busy") : "cell";
      out.append(svg("rect", { class: busy, x: bank * CELL + 0.5, y: low, width: CELL - 1, height: 18, rx: 2 }));
      const text = words.size > 1 ? `${words.size}` : `${bank}`;
      out.append(svg("text", { class: words.size > 1 ? "number strong" : "number", x: bank * CELL + CELL / 2, y: low + 13 }, text));
    });
    out.append(svg("text", { class: "axis", x: 0, y: HIGH + 1 }, "banks; a number in a filled one: different words"));
  } else {
    const sectors = [...new Set(address.flatMap((x) => (x < 0 ? [] : [Math.floor(x / SECTOR), Math.floor((x + size - 1) / SECTOR)])))].sort((a, b) => a - b);
    const shown = sectors.slice(0, MOST);
    const wide = Math.min(WIDE / shown.length, 106);
    const left = (WIDE - wide * shown.length) / 2;
    for (let lane = 0; lane < WARP; lane++) {
      const n = shown.indexOf(Math.floor(address[lane] / SECTOR));
      const inside = ((address[lane] % SECTOR) / SECTOR) * (wide - 4);
      goals.push({ x: n < 0 ? -1 : left + n * wide + 2 + inside, wide: Math.max((Math.min(size, SECTOR) / SECTOR) * (wide - 4), 1) });
    }
    shown.forEach((sector, n) => {
      out.append(svg("rect", { class: "cell", x: left + n * wide + 1, y: low, width: wide - 2, height: 18, rx: 2 }));
      if (n && sector !== shown[n - 1] + 1) out.append(svg("path", { class: "gap", d: `M${left + n * wide} ${low - 3}v24` }));
    });
    goals.forEach((g, lane) => {
      if ((mask >>> lane) & 1 && g.x >= 0) out.append(svg("rect", { class: "cell busy", x: g.x, y: low + 1, width: g.wide, height: 16 }));
    });
    const some = sectors.length > MOST ? `, the first ${MOST} of ${sectors.length}` : "";
    out.append(svg("text", { class: "axis", x: 0, y: HIGH + 1 }, `sectors of 32 bytes from 0x${(shown[0] * SECTOR).toString(16)}${some}; a stroke: memory between is left out`));
  }
  for (let lane = 0; lane < WARP; lane++) {
    const x = lane * CELL;
    const on = (mask >>> lane) & 1;
    out.append(svg("rect", { class: `cell${on ? " busy" : ""}${lane === own ? " own" : ""}`, x: x + 0.5, y: 0, width: CELL - 1, height: 14, rx: 2 }));
    if (lane % 4 === 0) out.append(svg("text", { class: on ? "number strong" : "number", x: x + CELL / 2, y: 10.5 }, `${lane}`));
    if (!on || goals[lane].x < 0) continue;
    const from = x + CELL / 2;
    const to = goals[lane].x + goals[lane].wide / 2;
    out.append(svg("path", { class: lane === own ? "wire own" : "wire", d: `M${from} 14C${from} 50 ${to} ${low - 36} ${to} ${low}` }));
  }
  return out;
}
