// The sheet of the studio (show/page/studio_controls.py): its values, its controls and its earlier states.

export type Value = string | number | boolean | Value[] | { [key: string]: Value };
export type Sheet = { [key: string]: Value };

export interface Control {
  place: string; // as "structure.radius"; in a list by number
  kind: "number" | "count" | "choice" | "flag" | "names" | "azimuth" | "value";
  unit: string;
  low: number; // where a slider begins and ends, in the unit; the same: there is no slider
  high: number;
  step: number;
  choices: string[];
  optional: boolean; // may be left empty
  reshapes: boolean; // other controls come and go with it
}

export function at(sheet: Sheet, place: string): Value | undefined {
  return place.split(".").reduce<any>((here, key) => here?.[key], sheet);
}

/** A new sheet with a value in its place; undefined takes it out. */
export function put(sheet: Sheet, place: string, value: Value | undefined): Sheet {
  const fresh = structuredClone(sheet);
  const way = place.split(".");
  const last = way.pop()!;
  const here = way.reduce<any>((table, key) => (table[key] ??= {}), fresh);
  if (value === undefined) delete here[last];
  else here[last] = value;
  return fresh;
}

/** The number of a value such as "10 m". */
export function numberOf(value: Value | undefined): number {
  return typeof value === "string" ? parseFloat(value) : typeof value === "number" ? value : NaN;
}

/** A number with its unit, as in the sheet. */
export function withUnit(value: number, unit: string): Value {
  const plain = parseFloat(value.toPrecision(12));
  return unit ? `${plain} ${unit}` : plain;
}

/** [deg] of a horizontal direction. */
export function azimuthOf(value: Value | undefined): number {
  const [x, y] = Array.isArray(value) ? (value as number[]) : [1, 0];
  return parseFloat((((Math.atan2(y, x) * 180) / Math.PI + 360) % 360).toFixed(6));
}

export function directionOf(degrees: number): Value {
  const angle = (degrees * Math.PI) / 180;
  return [Math.cos(angle), Math.sin(angle), 0].map((part) => parseFloat(part.toFixed(12)) || 0);
}

/** A digest of a value that does not depend on the order of its keys (FNV-1a, 2 x 32 bits). */
export function digestOf(value: Value | undefined): string {
  const text = JSON.stringify(value, (_, inner) =>
    inner && typeof inner === "object" && !Array.isArray(inner) ? Object.fromEntries(Object.entries(inner).sort()) : inner) ?? "";
  return [0x811c9dc5, 0x1234567]
    .map((seed) => {
      let hash = seed;
      for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
      return (hash >>> 0).toString(16).padStart(8, "0");
    })
    .join("");
}

/** The earlier states of the sheet and, after undoing, the later ones. */
export class UndoHistory {
  private before: Sheet[] = [];
  private after: Sheet[] = [];
  private last = { place: "", time: 0 };

  /** Stores the sheet before a change at a place; one drag of a slider is one change. */
  keep(sheet: Sheet, place: string): void {
    const now = performance.now();
    if (place !== this.last.place || now - this.last.time > 1000) this.before.push(sheet);
    this.last = { place, time: now };
    this.after = [];
  }

  undo(now: Sheet): Sheet | undefined {
    return this.move(this.before, this.after, now);
  }

  redo(now: Sheet): Sheet | undefined {
    return this.move(this.after, this.before, now);
  }

  get can(): { undo: boolean; redo: boolean } {
    return { undo: this.before.length > 0, redo: this.after.length > 0 };
  }

  private move(from: Sheet[], to: Sheet[], now: Sheet): Sheet | undefined {
    const sheet = from.pop();
    if (sheet) to.push(now);
    this.last = { place: "", time: 0 };
    return sheet;
  }
}
