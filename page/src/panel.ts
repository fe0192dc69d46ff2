// What a person sets: controls of what is shown and how; every change gives back the whole of the settings.

import { fitting } from "./amounts";
import { byId, make } from "./make";
import type { Shown } from "./scene";
import type { Axis } from "./stage";

const MOST = 1000; // times that motions are exaggerated
const VIEWS: [string, number, number][] = [["Front", 0, 0], ["Side", 90, 0], ["Top", 0, 90], ["Iso", 28, 16]];
const SWITCHES = [["forces", "Forces"], ["thrust", "Thrust"], ["ghost", "Initial shape"], ["orthographic", "Parallel"]] as const;

export class Panel {
  readonly shown: Shown = {
    colour: "stone", most: 0, exaggeration: 1, section: null, forces: false, thrust: false, ghost: false, orthographic: false,
  };
  private readonly colour = make("select", { title: "colour by (C)" });
  private readonly most = make("input", { type: "number", min: "0", step: "any", placeholder: "auto", title: "value at the end of the scale" });
  private readonly mostUnit = make("span");
  private readonly times = make("input", { type: "range", min: "0", max: "1", step: "0.001", title: "how many times motions are drawn (+ −)" });
  private readonly timesText = make("output");
  private readonly axis = make("select", { title: "cut (S)" });
  private readonly cut = make("input", { type: "range", min: "0", max: "1", step: "0.001", value: "0.5" });
  private readonly flip = make("button", { textContent: "⇄", title: "the other side" });
  private readonly cutText = make("output");
  private readonly switches = new Map<string, HTMLInputElement>();

  constructor(
    private readonly units: Map<string, string>, // of what blocks can be coloured by; "" has none
    private readonly hasJoints: boolean,
    private readonly extent: (axis: Axis) => [number, number],
    private readonly onShown: () => void,
    onView: (azimuth: number, elevation: number) => void,
    onFit: () => void,
  ) {
    this.colour.append(...[...units.keys()].map((name) => make("option", { value: name }, name)));
    this.axis.append(...["off", "x", "y", "z"].map((name) => make("option", { value: name }, name === "off" ? "none" : name)));
    this.addRows();
    VIEWS.forEach(([name, azimuth, elevation], i) =>
      byId("views").append(make("button", { textContent: name, title: `key ${i + 1}`, onclick: () => onView(azimuth, elevation) })));
    byId("views").append(make("button", { textContent: "Fit", title: "key 0", onclick: onFit }));
    this.read();
  }

  setColour(name: string): void {
    if (!this.units.has(name)) throw new Error(`${name} is nothing to colour by; choose one of ${[...this.units.keys()].join(", ")}`);
    this.colour.value = name;
    this.most.value = "";
    this.change();
  }

  /** The next of what blocks can be coloured by. */
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
    this.onShown();
  }

  /** The settings as the controls say. */
  private read(): void {
    const { shown } = this;
    shown.colour = this.colour.value;
    const unit = fitting(1, this.units.get(shown.colour)!);
    shown.most = Math.max(0, Number(this.most.value) * unit.size);
    this.most.hidden = this.mostUnit.hidden = shown.colour === "stone" || shown.colour === "macro-block";
    this.mostUnit.textContent = unit.name;
    shown.exaggeration = twoDigits(MOST ** Number(this.times.value));
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
    this.cutText.textContent = `${at.toFixed(2)} m`;
  }
}

const row = (label: string, ...children: Node[]) => make("div", { className: "row" }, make("span", {}, label), ...children);

const twoDigits = (value: number) => (value < 1.02 ? 1 : Number(value.toPrecision(2)));

/** The player at the foot of the page. */
export class Player {
  private readonly play = make("button", { textContent: "▶", title: "play or pause (space)" });
  private readonly slider = make("input", { type: "range", step: "any", ariaLabel: "time" });
  private readonly came = make("progress", { max: 1, value: 0, title: "frames that have come" });
  private readonly text = make("output");
  private readonly speed = make("select", { title: "speed" });

  constructor(
    speeds: [string, number][], speed: number,
    on: { play: () => void; step: (by: number) => void; seek: (time: number) => void; speed: (times: number) => void; loop: (loop: boolean) => void },
  ) {
    this.speed.append(...speeds.map(([label, times]) => make("option", { value: String(times) }, label)));
    this.speed.value = String(speed);
    this.speed.onchange = () => on.speed(Number(this.speed.value));
    this.play.onclick = on.play;
    this.slider.oninput = () => on.seek(Number(this.slider.value));
    const loop = make("input", { type: "checkbox", oninput: () => on.loop(loop.checked) });
    byId("player").append(
      make("button", { textContent: "⇤", title: "start (Home)", onclick: () => on.step(-Infinity) }),
      make("button", { textContent: "‹", title: "a frame back (←)", onclick: () => on.step(-1) }),
      this.play,
      make("button", { textContent: "›", title: "a frame on (→)", onclick: () => on.step(1) }),
      make("button", { textContent: "⇥", title: "end (End)", onclick: () => on.step(Infinity) }),
      make("div", { className: "track" }, this.slider, this.came),
      this.text, this.speed, make("label", {}, loop, "Loop"),
    );
  }

  setRange(begin: number, end: number): void {
    [this.slider.min, this.slider.max] = [String(begin), String(end)];
  }

  setTime(time: number, text: string): void {
    this.slider.value = String(time);
    this.text.textContent = text;
  }

  setPlaying(playing: boolean): void {
    this.play.textContent = playing ? "❚❚" : "▶";
  }

  setCame(share: number): void {
    this.came.value = share;
    this.came.style.visibility = share < 1 ? "visible" : "hidden";
  }
}
