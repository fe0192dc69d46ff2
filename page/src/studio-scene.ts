// The drawing of the studio: the blocks, with the mechanism in motion or the forces.

import { classColour, colours, stoneColour } from "./colours";
import type { Arrays } from "./source";
import { Stage } from "./stage";

export interface Shape {
  names: string[];
  fixed: boolean[];
  geometry: Record<"centre" | "vertex" | "owner" | "triangle" | "edge", number[]>;
}

export interface Forces {
  a: number[]; // blocks of each joint
  b: number[];
  centre: number[]; // (J, 3) [m]
  force: number[]; // (J, 3) [N] on b
  lines: number[][]; // thrust lines, (P, 3) [m] each
}

export interface Hinge {
  between: [string, string];
  block: number;
  kind: string;
  side: string;
  place: [number, number, number]; // [m]
}

export interface Standing {
  verdict: "stands" | "self-stress" | "falls"; // under the dead load, by Coulomb's friction
  words: string; // the same in a sentence
}

export interface Collapse {
  stable: boolean; // only for the verdict "stands"
  standing: Standing;
  multiplier_safe: number | null; // by Coulomb friction; of small structures only
  angle_safe: number | null; // [deg] whose tangent it is
  multiplier: number | null; // by associated friction: an upper bound
  angle: number | null; // [deg] whose tangent the multiplier is
  status: string;
  verdict: string;
  words: string;
  hinges: Hinge[];
  macro: number[];
  motion: number[]; // (B, 6) [m, rad] at the end of the animation
  forces: Forces | null;
}

export interface Safe {
  multiplier_safe: number | null;
  angle_safe: number | null; // [deg]
  confirmed: boolean; // by histories below and above it
  multiplier_from_rest: number | null;
  note: string;
}

export interface Rest {
  safe: Safe;
  forces: Forces | null;
  safety_factor: number | null; // geometric, of an arch
  lines: Record<string, number[]>;
  thrust: (number | null)[]; // [N] least and largest
}

export type Look = "mechanism" | "forces at collapse" | "forces at rest";
export const LOOKS: Look[] = ["mechanism", "forces at collapse", "forces at rest"];

const MECHANISM_PERIOD = 2.6; // [s] for one motion of the mechanism to and fro
const MAX_MARKS = 80; // hinges that are marked
const MARK_SIZE = 0.008; // in units of the size of the structure

export class StudioScene {
  readonly stage: Stage;
  isPlain = true; // nothing but blocks is drawn
  private shape: Shape | null = null;
  private collapse: Collapse | null = null;
  private moving = 0; // the animation frame that comes next
  private began = 0;
  private seen = ""; // kind of the structure to which the view was fitted

  constructor(container: HTMLElement) {
    this.stage = new Stage(container);
  }

  /** Sets new blocks; the view stays if it is the same kind of structure with other sizes. */
  setShape(shape: Shape, kind: string): void {
    this.shape = shape;
    this.collapse = null;
    this.isPlain = true;
    this.still();
    this.stage.setGeometry(arraysOf(shape.geometry));
    this.stage.setColours(colours(shape.fixed, stoneColour));
    if (this.seen !== kind) this.stage.look(-28, 16);
    else this.stage.fit();
    this.seen = kind;
  }

  show(look: Look, collapse: Collapse | null, rest: Rest | null): void {
    if (!this.shape) return;
    this.still();
    this.isPlain = false;
    this.collapse = collapse;
    const forces = look === "forces at collapse" ? collapse?.forces : look === "forces at rest" ? rest?.forces : null;
    const line = look === "forces at rest" ? rest?.lines.safest : undefined;
    const lines = line ? [line] : forces?.lines ?? [];
    this.stage.setJoints(forces ? arraysOf(forces, ["a", "b", "centre", "force"]) : null);
    this.stage.setThrust(...joined(lines));
    const macro = look === "mechanism" && collapse ? collapse.macro : null;
    this.stage.setColours(colours(this.shape.fixed, macro ? (block) => (macro[block] ? classColour(macro[block]) : stoneColour(block)) : stoneColour, !!forces));
    const moves = look === "mechanism" && collapse?.motion.some((part) => part !== 0);
    this.stage.setGhost(!!moves);
    if (!moves) return this.pose(0);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return this.pose(1);
    this.began = performance.now();
    this.step();
  }

  /** Stops the motion and shows the structure as built. */
  private still(): void {
    cancelAnimationFrame(this.moving);
    this.moving = 0;
    if (this.shape) this.pose(0);
  }

  private step(): void {
    const phase = (2 * Math.PI * (performance.now() - this.began)) / 1000 / MECHANISM_PERIOD;
    this.pose((1 - Math.cos(phase)) / 2);
    this.moving = requestAnimationFrame(() => this.step());
  }

  /** Draws a share of the final motion. */
  private pose(share: number): void {
    const count = this.shape!.names.length;
    const motion = this.collapse?.motion ?? [];
    const [shift, turn] = [new Float32Array(3 * count), new Float32Array(3 * count)];
    if (motion.length)
      for (let i = 0; i < 3 * count; i++) {
        const from = 6 * Math.floor(i / 3) + (i % 3);
        shift[i] = share * motion[from];
        turn[i] = share * motion[from + 3];
      }
    this.stage.setPose(shift, turn);
    this.mark(share > 0 ? share : 0, shift, turn);
  }

  /** Draws hinges as small marks that move with their blocks. */
  private mark(share: number, shift: Float32Array, turn: Float32Array): void {
    const hinges = share > 0 ? this.collapse!.hinges.filter((hinge) => hinge.kind === "hinge").slice(0, MAX_MARKS) : [];
    const centre = this.shape!.geometry.centre;
    this.stage.setMarks(Float32Array.from(hinges.flatMap(({ block, place }) => {
      const arm = place.map((part, i) => part - centre[3 * block + i]);
      const w = turn.subarray(3 * block, 3 * block + 3);
      return place.map((part, i) => {
        const [j, k] = [(i + 1) % 3, (i + 2) % 3];
        return part + shift[3 * block + i] + w[j] * arm[k] - w[k] * arm[j];
      });
    })), MARK_SIZE);
  }
}

const INTEGER_ARRAYS = new Set(["owner", "triangle", "edge", "a", "b"]);

function arraysOf<T extends object>(lists: T, names = Object.keys(lists)): Arrays {
  const arrays: Arrays = {};
  for (const name of names) {
    const list = (lists as Record<string, number[]>)[name];
    arrays[name] = { data: INTEGER_ARRAYS.has(name) ? Uint32Array.from(list) : Float32Array.from(list), shape: [list.length] };
  }
  return arrays;
}

/** The points of all lines in one array, and the number of the first point of each line. */
function joined(lines: number[][]): [Float32Array, number[]] {
  const starts: number[] = [];
  let count = 0;
  for (const line of lines) {
    starts.push(count);
    count += line.length / 3;
  }
  return [Float32Array.from(lines.flat()), starts];
}
