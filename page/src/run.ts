// A run in the browser: the head and the geometry are loaded at once, the frames in chunks, those near the present frame first.

import type { Arrays, Numbers, Source } from "./source";

export interface Quantity {
  name: string;
  unit: string;
  counted: boolean;
}

export interface Curve {
  title: string;
  unit: string;
  time: number[];
  axis?: [string, string]; // the name of the abscissa if it is not time, and its unit
  series: { label: string; values: (number | null)[] }[];
}

export interface Head {
  name: string;
  title: string;
  analysis: string;
  axis: [string, string]; // what the frames follow (time or stage), and its unit
  origin: [number, number, number]; // [m] the origin of the coordinates
  blocks: { name: string[]; group: string[]; fixed: boolean[]; mass: number[] };
  time: number[];
  chunks: [number, number][];
  joints: number[];
  quantities: Quantity[];
  curves: Curve[];
  facts: [string, string][];
  live: boolean;
}

export interface Pose {
  displacement: Float32Array; // (B, 3) [m]
  turn: Float32Array; // (B, 3) [rad]
}

const NO_VALUE = 65535; // a block without a value
const RETRY_DELAY = 2000; // [ms] after a failed request
const MAX_KEPT_JOINTS = 40; // answers about joints that are kept
const POSES = "poses";
const TYPICAL_SHARE = 0.99; // of the values lie within the colour scale: the few values of blocks that touch along an edge are left out

export class Run {
  present = 0; // the present frame: chunks near it are loaded first
  quantity = ""; // the quantity whose values are loaded
  onNews = (_what: "frames" | "curves") => {};
  onTrouble = (_error: Error) => {};
  private readonly held = new Map<string, Arrays>(); // by series and chunk
  private readonly joints = new Map<number, Arrays>();
  private readonly most: Record<string, number> = { displacement: 0, rotation: 0 }; // largest values so far
  private readonly shown: Pose;
  private rested = 0; // [ms] time from which it may ask again after a failure
  private readonly filling = new Set<string>(); // series (poses, values) that are being loaded

  private constructor(
    private readonly source: Source,
    private readonly path: string,
    readonly head: Head,
    readonly geometry: Arrays,
  ) {
    const count = 3 * head.blocks.name.length;
    this.shown = { displacement: new Float32Array(count), turn: new Float32Array(count) };
  }

  static async open(source: Source, number: number): Promise<Run> {
    const path = `runs/${number}`;
    const [head, geometry] = await Promise.all([source.json<Head>(path), source.arrays(`${path}/geometry`)]);
    return new Run(source, path, head, geometry);
  }

  /** [m] The origin of the coordinates along an axis. */
  from(axis: "x" | "y" | "z"): number {
    return this.head.origin["xyz".indexOf(axis)];
  }

  /** The frame, with its fraction, that shows a time. */
  frameAt(time: number): number {
    const times = this.head.time;
    if (time <= times[0]) return 0;
    if (time >= times[times.length - 1]) return times.length - 1;
    let [low, high] = [0, times.length - 1];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (times[middle] <= time) low = middle;
      else high = middle;
    }
    return low + (time - times[low]) / (times[high] - times[low]);
  }

  /** The pose between two frames; null while it is being loaded. The arrays are reused for the next pose. */
  pose(frame: number): Pose | null {
    const [first, share] = [Math.floor(frame), frame - Math.floor(frame)];
    const from = this.chunk(POSES, first);
    if (!from) return null;
    const to = share > 0 ? this.chunk(POSES, first + 1) : null;
    for (const [part, column] of [["displacement", 0], ["turn", 1]] as const) {
      const [into, count] = [this.shown[part], this.shown[part].length];
      const [here, scale, at] = [from.arrays[part].data, from.arrays.scale.data, from.row * count];
      for (let i = 0; i < count; i++) into[i] = here[at + i] * scale[2 * Math.floor(i / 3) + column];
      if (!to) continue;
      const [there, size, next] = [to.arrays[part].data, to.arrays.scale.data, to.row * count];
      for (let i = 0; i < count; i++) into[i] += share * (there[next + i] * size[2 * Math.floor(i / 3) + column] - into[i]);
    }
    return this.shown;
  }

  /** (B,) whether a block is absent in a frame, not laid yet or removed; null if all blocks are present. */
  hidden(frame: number): ArrayLike<number> | null {
    const found = this.chunk(POSES, Math.round(frame));
    const blocks = this.head.blocks.name.length;
    return found?.arrays.hidden?.data.subarray(found.row * blocks, (found.row + 1) * blocks) ?? null;
  }

  /** (B,) the values of a frame, nan where a block has none; null while they are being loaded. */
  values(frame: number): Float32Array | null {
    const found = this.chunk(`values/${this.quantity}`, Math.round(frame));
    if (!found) return null;
    const { data, shape } = found.arrays.value;
    const scale = found.arrays.scale.data[0];
    const row = data.subarray(found.row * shape[1], (found.row + 1) * shape[1]);
    return Float32Array.from(row, (value) => (value === NO_VALUE ? NaN : value * scale));
  }

  /** The largest value so far; for amounts a high quantile of the values. */
  largest(quantity: string): number {
    return this.most[quantity] ?? 0;
  }

  /** Displacement x, y, z [m] and rotation [rad] of a block in all loaded frames; null in the others. */
  history(block: number): { displacement: (number | null)[][]; rotation: (number | null)[] } {
    const frames = this.head.time.length;
    const displacement = [0, 1, 2].map(() => new Array<number | null>(frames).fill(null));
    const rotation = new Array<number | null>(frames).fill(null);
    for (let frame = 0; frame < frames; frame++) {
      const found = this.chunk(POSES, frame);
      if (!found) continue;
      const at = 3 * (found.row * this.head.blocks.name.length + block);
      const [{ data: shift }, { data: turn }, { data: scale }] = [found.arrays.displacement, found.arrays.turn, found.arrays.scale];
      displacement.forEach((column, i) => (column[frame] = shift[at + i] * scale[2 * block]));
      rotation[frame] = Math.hypot(turn[at], turn[at + 1], turn[at + 2]) * scale[2 * block + 1];
    }
    return { displacement, rotation };
  }

  /** The number of loaded frames. */
  loaded(): number {
    return this.head.chunks.reduce((sum, [from, to]) => sum + (this.held.has(`${POSES}/${from}-${to}`) ? to - from : 0), 0);
  }

  /** Loads what is missing, near the present frame first; poses do not wait for values, which take longer to compute. */
  async fill(): Promise<void> {
    await Promise.all([this.fillSeries(() => POSES), this.fillSeries(() => (this.quantity ? `values/${this.quantity}` : ""))]);
  }

  /** The frame nearest to one whose joints can be shown; -1 if there is none. */
  jointFrame(frame: number): number {
    return this.head.joints.reduce((best, one) => (best < 0 || Math.abs(one - frame) < Math.abs(best - frame) ? one : best), -1);
  }

  /** A time, or a stage, in words. */
  timeText(time: number): string {
    const [name, unit] = this.head.axis;
    return unit === "s" ? `${time.toFixed(3)} s` : `${name} ${Number(time.toPrecision(4))} ${unit}`.trim();
  }

  /** The forces in the joints in a frame of `jointFrame`. */
  async jointsOf(frame: number): Promise<Arrays> {
    const known = this.joints.get(frame);
    if (known) return known;
    const arrays = await this.source.arrays(`${this.path}/joints/${frame}`);
    if (this.joints.size >= MAX_KEPT_JOINTS) this.joints.delete(this.joints.keys().next().value!);
    this.joints.set(frame, arrays);
    return arrays;
  }

  /** Requests the new frames of a run that is still being computed. */
  async grow(): Promise<void> {
    const { head } = this;
    const before = head.time.length;
    const more = await this.source.json<Pick<Head, "time" | "curves" | "live"> & { joints?: number[] }>(`${this.path}/more/${before}`);
    head.live = more.live;
    head.time.push(...more.time);
    if (more.joints) head.joints.push(...more.joints);
    if (more.time.length) head.chunks.push([before, head.time.length]);
    if (more.curves.length) head.curves = more.curves;
    this.onNews("curves");
    void this.fill();
  }

  private chunk(series: string, frame: number): { arrays: Arrays; row: number } | null {
    const found = this.head.chunks.find(([from, to]) => from <= frame && frame < to);
    const arrays = found && this.held.get(`${series}/${found[0]}-${found[1]}`);
    return arrays ? { arrays, row: frame - found[0] } : null;
  }

  private async fillSeries(series: () => string): Promise<void> {
    const lane = series().split("/")[0];
    if (!lane || this.filling.has(lane) || performance.now() < this.rested) return;
    this.filling.add(lane);
    try {
      for (let path = this.mostUrgent(series()); path; path = this.mostUrgent(series())) {
        const arrays = await this.source.arrays(`${this.path}/${path}`);
        this.held.set(path, arrays);
        this.measure(path, arrays);
        this.onNews("frames");
      }
    } catch (error) {
      this.rested = performance.now() + RETRY_DELAY;
      this.onTrouble(error as Error);
    } finally {
      this.filling.delete(lane);
    }
  }

  private mostUrgent(series: string): string {
    const far = ([from, to]: [number, number]) => Math.max(from - this.present, this.present - (to - 1), 0);
    const missing = this.head.chunks.filter(([from, to]) => series && !this.held.has(`${series}/${from}-${to}`));
    if (!missing.length) return "";
    const [from, to] = missing.reduce((best, one) => (far(one) < far(best) ? one : best));
    return `${series}/${from}-${to}`;
  }

  /** Updates the largest values, for the colour scale. */
  private measure(path: string, arrays: Arrays): void {
    if (!path.startsWith(POSES)) {
      const [, name] = path.split("/");
      const share = this.head.quantities.find((one) => one.name === name)?.counted ? 1 : TYPICAL_SHARE;
      this.most[name] = Math.max(this.largest(name), quantile(arrays.value.data, share) * arrays.scale.data[0]);
      return;
    }
    const blocks = this.head.blocks.name.length;
    for (const [name, part, column] of [["displacement", "displacement", 0], ["rotation", "turn", 1]] as const) {
      const [{ data }, { data: scale }] = [arrays[part], arrays.scale];
      for (let at = 0; at < data.length; at += 3) {
        const size = Math.sqrt(data[at] ** 2 + data[at + 1] ** 2 + data[at + 2] ** 2) * scale[2 * ((at / 3) % blocks) + column];
        if (size > this.most[name]) this.most[name] = size;
      }
    }
  }
}

/** The value that a share of all does not exceed. */
function quantile(values: Numbers, share: number): number {
  const known = values.filter((value) => value !== NO_VALUE).sort();
  return known[Math.floor(share * (known.length - 1))] ?? 0;
}
