// The selected block: its name, mass and motion at the present time, and its histories in all runs that contain it.

import { amount } from "./amounts";
import { type Chart, grown, type Line } from "./charts";
import { byId, make } from "./make";
import type { Scene } from "./scene";

const REDRAW_DELAY = 300; // [ms] until newly loaded frames are drawn

export class BlockCard {
  histories: Chart[] = [];
  private readonly element = byId("block");
  private readonly facts = make("dl");
  private time = 0;
  private later = 0; // the timer of the delayed redraw

  constructor(
    private readonly scenes: Scene[],
    private readonly chart: (title: string, unit: string, lines: Line[], into: HTMLElement) => Chart,
    private readonly onNone: () => void,
  ) {}

  /** Shows the block that is selected in the scenes, if there is one. */
  show(time: number): void {
    this.histories.forEach((chart) => chart.close());
    this.histories = [];
    const scene = this.scene();
    this.element.hidden = !scene;
    if (!scene) return;
    const none = make("button", { textContent: "×", title: "deselect the block (Esc)", onclick: this.onNone });
    const name = `Block ${scene.run.head.blocks.name[scene.selected]}`;
    this.element.replaceChildren(make("h3", {}, make("span", {}, name), none), this.facts);
    const [moved, turned] = this.lines();
    this.histories = [this.chart("Displacement", "m", moved, this.element), this.chart("Rotation", "rad", turned, this.element)];
    this.setTime(time);
  }

  setTime(time: number): void {
    this.time = time;
    const scene = this.scene();
    if (!scene) return;
    this.histories.forEach((chart) => chart.setTime(time));
    this.facts.replaceChildren(...rows(scene, time).flatMap(([label, text]) => [make("dt", {}, label), make("dd", {}, text)]));
  }

  /** Redraws the histories soon, after new frames were loaded. */
  growSoon(): void {
    if (!this.scene()) return;
    this.later ||= setTimeout(() => {
      this.later = 0;
      if (this.scene() && !grown(this.histories, this.lines())) this.show(this.time);
    }, REDRAW_DELAY);
  }

  private scene = () => this.scenes.find(({ selected }) => selected >= 0);

  /** Displacements and rotations. */
  private lines(): [Line[], Line[]] {
    const moved: Line[] = [];
    const turned: Line[] = [];
    this.scenes.forEach(({ run, selected }, number) => {
      if (selected < 0) return;
      const { displacement, rotation } = run.history(selected);
      displacement.forEach((values, i) => moved.push({ label: "xyz"[i], time: run.head.time, values, run: number }));
      turned.push({ label: "rotation", time: run.head.time, values: rotation, run: number });
    });
    return [moved, turned];
  }
}

function rows({ run, selected }: Scene, time: number): [string, string][] {
  const { group, mass, fixed } = run.head.blocks;
  const pose = run.pose(run.frameAt(time));
  const size = (vectors?: Float32Array) => (vectors ? Math.hypot(...vectors.subarray(3 * selected, 3 * selected + 3)) : NaN);
  const turn = size(pose?.turn);
  return [
    ["group", group[selected] || "–"],
    ["mass", amount(mass[selected], "kg") + (fixed[selected] ? ", fixed" : "")],
    ["displacement", amount(size(pose?.displacement), "m")],
    ["rotation", `${amount(turn, "rad")} (${((turn * 180) / Math.PI).toFixed(2)}°)`],
  ];
}
