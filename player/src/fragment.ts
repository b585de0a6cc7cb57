// The address of the page: #launch=1&step=51&lane=17.
import type { Session } from "./session";

export interface Fragment {
  launch: number | null;
  step: number | null;
  lane: number | null;
}

export function readFragment(): Fragment {
  const found = new URLSearchParams(location.hash.slice(1));
  const number = (name: string): number | null => (/^\d+$/.test(found.get(name) ?? "") ? Number(found.get(name)) : null);
  return { launch: number("launch"), step: number("step"), lane: number("lane") };
}

export function writeFragment(s: Session, launch: number, several: boolean): void {
  const text = `#${several ? `launch=${launch + 1}&` : ""}step=${s.step}&lane=${s.lane}`;
  if (location.hash === text) return;
  try {
    history.replaceState(null, "", text);
  } catch {
    // a page in a frame without an address of its own cannot keep one
  }
}

/** Goes where the address says, as far as there is such a place. */
export function follow(s: Session, f: Fragment): boolean {
  if (f.step === null && f.lane === null) return false;
  const lane = f.lane !== null && s.rec.blockOrder.includes(Math.floor(f.lane / s.rec.threads)) ? f.lane : s.lane;
  s.go(f.step ?? s.step, lane);
  return true;
}
