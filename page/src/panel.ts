// The panel of settings: controls for what is shown and how; every change updates all settings.

import { fitting } from "./amounts";
import { byId, make } from "./make";
import type { DisplaySettings } from "./scene";
import type { Axis } from "./stage";

const TYPED_UNITS: Record<string, number> = { m: 1e-3, rad: 1e-3, Pa: 1e3 }; // [SI] the unit in which amounts are typed
const MAX_EXAGGERATION = 1000; // largest factor on motions
const VIEWS: [string, number, number][] = [["Front", 0, 0], ["Side", 90, 0], ["Top", 0, 90], ["Iso", 28, 16]];
const SWITCHES = [["forces", "Forces"], ["thrust", "Thrust"], ["ghost", "Initial shape"], ["orthographic", "Parallel"]] as const;

export class Panel {
  readonly shown: DisplaySettings = {
    colour: "stone", most: 0, exaggeration: 1, section: null, forces: false, thrust: false, ghost: false, orthographic: false,
  };
  private readonly colour = make("select", { title: "colour by (C)" });
  private readonly most = make("input", { type: "number", min: "0", step: "any", placeholder: "auto", title: "end of the scale" });
  private readonly mostUnit = make("span");
  private readonly times = make("input", { type: "range", min: "0", max: "1", step: "0.001", title: "exaggerate motions (+ −)" });
  private readonly timesText = make("output");
  private readonly axis = make("select", { title: "cut (S)" });
  private readonly cut = make("input", { type: "range", min: "0", max: "1", step: "0.001", value: "0.5" });
  private readonly flip = make("button", { textContent: "⇄", title: "the other side" });
  private readonly cutText = make("output");
  private readonly switches = new Map<string, HTMLInputElement>();

  constructor(
    private readonly units: Map<string, string>, // the quantities that can colour blocks, and their units; "" for none
    private readonly hasJoints: boolean,
    private readonly extent: (axis: Axis) => [number, number],
    private readonly on: { shown: () => void; view: (azimuth: number, elevation: number) => void; fit: () => void },
  ) {
    this.colour.append(...[...units.keys()].map((name) => make("option", { value: name }, name)));
    this.axis.append(...["off", "x", "y", "z"].map((name) => make("option", { value: name }, name === "off" ? "none" : name)));
    this.addRows();
    VIEWS.forEach(([name, azimuth, elevation], i) =>
      byId("views").append(make("button", { textContent: name, title: `key ${i + 1}`, onclick: () => on.view(azimuth, elevation) })));
    byId("views").append(make("button", { textContent: "Fit", title: "key 0", onclick: on.fit }));
    this.read();
  }

  setColour(name: string): void {
    if (!this.units.has(name)) throw new Error(`${name} is not a quantity that can colour blocks; choose one of ${[...this.units.keys()].join(", ")}`);
    this.colour.value = name;
    this.most.value = "";
    this.change();
  }

  /** Colours the blocks by the next quantity. */
  nextColour(): void {
    this.setColour(this.colour.options[(this.colour.selectedIndex + 1) % this.colour.options.length].value);
  }

  nextSection(): void {
    this.axis.selectedIndex = (this.axis.selectedIndex + 1) % this.axis.options.length;
    this.change();
  }

  exaggerate(steps: number): void {
    this.times.value = String(Number(this.times.value) + steps * 0.05);
    this.change();
  }

  toggle(name: "forces" | "thrust" | "ghost" | "orthographic"): void {
    this.switches.get(name)?.click();
  }

  private addRows(): void {
    this.times.value = "0";
    this.colour.addEventListener("input", () => this.setColour(this.colour.value));
    for (const input of [this.most, this.times, this.axis, this.cut]) input.addEventListener("input", () => this.change());
    this.times.addEventListener("dblclick", () => ((this.times.value = "0"), this.change()));
    this.flip.addEventListener("click", () => {
      this.flip.ariaPressed = String(this.flip.ariaPressed !== "true");
      this.change();
    });
    const checks = make("div", { className: "checks" });
    for (const [name, label] of SWITCHES) {
      if (!this.hasJoints && (name === "forces" || name === "thrust")) continue;
      const box = make("input", { type: "checkbox" });
      box.addEventListener("input", () => this.change());
      this.switches.set(name, box);
      checks.append(make("label", {}, box, label));
    }
    byId("controls").append(
      row("Colour by", make("div", { className: "pair" }, this.colour, this.most), this.mostUnit),
      row("Exaggerate", this.times, this.timesText),
      row("Section", make("div", { className: "pair" }, this.axis, this.cut, this.flip), this.cutText),
      checks,
    );
  }

  private change(): void {
    this.read();
    this.on.shown();
  }

  /** Reads the settings from the controls. */
  private read(): void {
    const { shown } = this;
    shown.colour = this.colour.value;
    const unit = fitting(TYPED_UNITS[this.units.get(shown.colour)!] ?? 1, this.units.get(shown.colour)!);
    shown.most = Math.max(0, Number(this.most.value) * unit.size);
    this.most.hidden = this.mostUnit.hidden = shown.colour === "stone" || shown.colour === "macro-block";
    this.mostUnit.textContent = unit.name;
    shown.exaggeration = twoDigits(MAX_EXAGGERATION ** Number(this.times.value));
    this.timesText.textContent = `× ${shown.exaggeration}`;
    this.readSection();
    for (const [name, box] of this.switches) shown[name as "ghost"] = box.checked;
  }

  private readSection(): void {
    const off = this.axis.value === "off";
    this.cut.disabled = this.flip.disabled = off;
    this.cutText.textContent = "";
    this.shown.section = null;
    if (off) return;
    const axis = this.axis.value as Axis;
    const [low, high] = this.extent(axis);
    const at = low + Number(this.cut.value) * (high - low);
    this.shown.section = { axis, at, flipped: this.flip.ariaPressed === "true" };
    this.cutText.textContent = `${axis} ${at.toFixed(2)} m`.replace("-", "−");
  }
}

const row = (label: string, ...children: Node[]) => make("div", { className: "row" }, make("span", {}, label), ...children);

const twoDigits = (value: number) => (value < 1.02 ? 1 : Number(value.toPrecision(2)));
