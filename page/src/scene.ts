// A run on a stage: settings and a time come in; the stage and the legends over it show them.

import { amount, roundedUp } from "./amounts";
import { classColour, colours, css, scaleColour, stoneColour, strengthColour, valueColour } from "./colours";
import { make } from "./make";
import type { Pose, Run } from "./run";
import { largestForce, type Section, Stage } from "./stage";

export interface DisplaySettings {
  colour: string; // "stone", "displacement", "rotation" or a quantity of the run
  most: number; // [SI] the value at the end of the colour scale; 0 for the largest value of the run
  exaggeration: number;
  section: Section | null; // in the coordinates of the model
  forces: boolean;
  thrust: boolean;
  ghost: boolean;
  orthographic: boolean;
}

const POSE_PARTS: Record<string, "displacement" | "turn"> = { displacement: "displacement", rotation: "turn" };
const EVENNESS = 0.6; // of colours that show values: 1 means no shading at all
const POSE_UNITS: Record<string, string> = { displacement: "m", rotation: "rad" };

export class Scene {
  readonly stage: Stage;
  selected = -1;
  private readonly caption = make("h2");
  private readonly wait = make("div", { className: "wait" });
  private readonly colourLegend = make("div", { className: "legend" });
  private readonly forceTitle = make("b");
  private readonly forceLegend = make("div", { className: "legend" });
  private shown: DisplaySettings | null = null;
  private frame = 0; // with its fraction
  private asking = false; // joints are being loaded
  private jointsShown = -1; // frame
  private strongest = 0; // [N] the force of the longest segment
  private legend = ""; // the present content of the colour legend
  private toned = ""; // the present colouring of the blocks by stone

  constructor(readonly run: Run, container: HTMLElement, private readonly largest: (quantity: string) => number) {
    const element = make("div", { className: "scene" });
    container.append(element);
    this.stage = new Stage(element);
    element.append(this.caption, this.wait, make("div", { className: "legends" }, this.forceLegend, this.colourLegend));
    this.caption.textContent = run.head.name;
    this.stage.setGeometry(run.geometry);
  }

  apply(shown: DisplaySettings): void {
    const before = this.shown;
    this.shown = { ...shown };
    this.run.quantity = this.quantity() ? shown.colour : "";
    void this.run.fill();
    if (before?.exaggeration !== shown.exaggeration) this.stage.setExaggeration(shown.exaggeration);
    this.stage.setSection(shown.section && { ...shown.section, at: shown.section.at - this.run.from(shown.section.axis) });
    this.stage.setGhost(shown.ghost);
    if (before?.orthographic !== shown.orthographic) this.stage.setOrthographic(shown.orthographic);
    this.jointsShown = -1;
    this.show(this.frame);
  }

  /** Draws a frame, or an instant between two frames; false while it is being loaded. */
  show(frame: number): boolean {
    this.frame = frame;
    this.run.present = Math.round(frame);
    const pose = this.run.pose(frame);
    this.wait.textContent = pose ? "" : "loading …";
    if (!pose) {
      void this.run.fill();
      return false;
    }
    this.stage.setPose(pose.displacement, pose.turn);
    const coloured = this.colour(pose);
    void this.showJoints();
    return coloured;
  }

  select(block: number): void {
    this.selected = block;
    this.stage.select(block);
  }

  private quantity() {
    return this.run.head.quantities.find(({ name }) => name === this.shown?.colour && !(name in POSE_PARTS));
  }

  private colour(pose: Pose): boolean {
    const { fixed } = this.run.head.blocks;
    const { colour, most, forces, thrust } = this.shown!;
    const [quantity, hidden] = [this.quantity(), this.run.hidden(this.frame)];
    if (!(colour in POSE_PARTS) && !quantity) {
      const toned = `${forces || thrust} ${hidden ? Math.round(this.frame) : ""}`;
      if (toned !== this.toned) this.stage.setColours(colours(fixed, stoneColour, forces || thrust, hidden));
      this.toned = toned;
      this.tell("", "", 0);
      return true;
    }
    this.toned = "";
    const values = quantity ? this.run.values(this.frame) : lengths(pose[POSE_PARTS[colour]]);
    const counted = quantity?.counted ?? false;
    const largest = this.largest(colour);
    const top = counted ? largest : most || roundedUp(largest);
    if (values) this.stage.setColours(colours(fixed, (block) => valueColour(values[block], top, counted), false, hidden), EVENNESS);
    this.wait.textContent = values ? "" : "loading …";
    this.tell(colour, quantity?.unit ?? POSE_UNITS[colour], top, counted, most > 0 || quantity !== undefined);
    return values !== null;
  }

  /** Updates the colour legend if its content changes. */
  private tell(title: string, unit: string, top: number, counted = false, more = false): void {
    const legend = `${title} ${top} ${more}`;
    if (legend === this.legend) return;
    this.legend = legend;
    this.colourLegend.hidden = !title || (!counted && !top);
    if (counted) this.colourLegend.replaceChildren(make("b", {}, title), classes(top));
    else this.colourLegend.replaceChildren(make("b", {}, title), bar(scaleColour), ticks(top, unit, more));
  }

  private async showJoints(): Promise<void> {
    const { forces, thrust } = this.shown!;
    const frame = this.run.jointFrame(this.frame);
    if (!forces && !thrust) this.clearJoints();
    if (this.asking || frame < 0 || frame === this.jointsShown || (!forces && !thrust)) return;
    this.asking = true;
    try {
      const joints = await this.run.jointsOf(frame);
      if (!this.shown!.forces && !this.shown!.thrust) return;
      this.jointsShown = frame;
      this.rescale(largestForce(joints));
      this.stage.setJoints(this.shown!.forces ? joints : null, this.strongest);
      if (this.shown!.thrust) this.stage.setThrust(joints.thrust.data as Float32Array, joints.thrust_start.data, joints);
      else this.stage.setThrust(new Float32Array(), []);
      this.forceLegend.hidden = !this.shown!.forces;
      const present = Math.abs(frame - this.frame) <= 0.5; // not all frames have forces
      this.forceTitle.textContent = present ? "force in a joint" : `force in a joint, ${this.run.timeText(this.run.head.time[frame])}`;
    } catch (error) {
      this.run.onTrouble(error as Error);
    } finally {
      this.asking = false;
    }
    if (this.run.jointFrame(this.frame) !== frame) void this.showJoints();
  }

  private clearJoints(): void {
    this.stage.setJoints(null);
    this.stage.setThrust(new Float32Array(), []);
    this.forceLegend.hidden = true;
  }

  /** Chooses the scale of forces anew only if the forces are far off the present one. */
  private rescale(largest: number): void {
    if (largest <= this.strongest && largest > 0.2 * this.strongest) return;
    this.strongest = roundedUp(largest);
    const root = (share: number) => strengthColour(Math.sqrt(share));
    this.forceLegend.replaceChildren(this.forceTitle, bar(root, true), ticks(this.strongest, "N"));
  }
}

function lengths(vectors: Float32Array): Float32Array {
  return Float32Array.from({ length: vectors.length / 3 }, (_, i) => Math.hypot(vectors[3 * i], vectors[3 * i + 1], vectors[3 * i + 2]));
}

/** A colour bar; a `wedge` is as wide as the lines that it explains. */
function bar(colour: (share: number) => readonly [number, number, number], wedge = false): HTMLCanvasElement {
  const canvas = make("canvas", { width: 200, height: 12 });
  const pen = canvas.getContext("2d")!;
  for (let x = 0; x < 200; x++) {
    const high = wedge ? Math.max(1, 9 * Math.sqrt(x / 200)) : 12;
    pen.fillStyle = css(colour(x / 199));
    pen.fillRect(x, 6 - high / 2, 1, high);
  }
  return canvas;
}

/** The labels of a colour bar from 0 to its end; `more`: larger values have the last colour. */
function ticks(top: number, unit: string, more = false): HTMLElement {
  const texts = ["0", amount(top / 2, unit), `${more ? "≥ " : ""}${amount(top, unit)}`];
  return make("div", { className: "ticks" }, ...texts.map((text) => make("span", {}, text)));
}

function classes(count: number): HTMLElement {
  const row = (number: number) => {
    const swatch = make("i");
    swatch.style.background = css(classColour(number));
    return make("span", {}, swatch, number ? String(number) : "stands");
  };
  return make("div", { className: "classes" }, ...Array.from({ length: Math.min(count, 7) + 1 }, (_, number) => row(number)));
}
