// The viewer: opens the runs that it is given, ties scenes, charts, player and keyboard to one time and one view.

import "uplot/dist/uPlot.min.css";
import "../page.css";
import { BlockCard } from "./block";
import { Chart, grown, type Line } from "./charts";
import { byId, make } from "./make";
import { Panel } from "./panel";
import { Playback } from "./playback";
import { Player } from "./player";
import { type Curve, Run } from "./run";
import { Scene } from "./scene";
import { openSource } from "./source";
import type { Axis } from "./stage";

const SPEEDS: [string, number][] = [
  ["1/20 ×", 0.05], ["1/10 ×", 0.1], ["1/5 ×", 0.2], ["1/2 ×", 0.5], ["1 ×", 1], ["2 ×", 2], ["5 ×", 5],
];
const HELP: [string, string][] = [
  ["Space", "play"], ["← →", "frame"], ["Shift ← →", "10 frames"], ["Click", "block"], ["Drag", "turn"], ["Right drag", "shift"],
  ["1–4 0", "views"], ["C", "colour"], ["F", "forces"], ["T", "thrust"], ["G", "initial shape"], ["S", "section"],
  ["P", "parallel"], ["+ −", "exaggerate"], ["Esc", "no block"],
];
const SLOW_FRAME = 100; // [ms] drawing time above which drawing is simplified
const POLL_INTERVAL = 1000; // [ms] between two requests about a run that is being computed
const STAGE_SECONDS = 0.5; // [s] for which a stage of an analysis is shown

class Page {
  private readonly scenes: Scene[];
  private readonly playback: Playback;
  private readonly panel: Panel;
  private readonly player: Player;
  private readonly card: BlockCard;
  private charts: Chart[] = [];
  private drawMs = 0; // [ms] of the last measured frame

  constructor(private readonly runs: Run[]) {
    const { head } = runs[0];
    const largest = (quantity: string) => Math.max(...runs.map((run) => run.largest(quantity))); // one scale for all
    const columns = runs.length <= 3 ? runs.length : Math.ceil(Math.sqrt(runs.length));
    byId("scenes").style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
    this.scenes = runs.map((run) => new Scene(run, byId("scenes"), largest));
    this.playback = new Playback(Math.min(...runs.map((run) => run.head.time[0])), this.end());
    this.playback.pace = head.axis[1] === "s" ? 1 : (this.end() - head.time[0] || 1) / Math.max(1, head.time.length - 1) / STAGE_SECONDS;
    const first = this.scenes[0].stage;
    const extent = (axis: Axis) => first.extent(axis).map((at) => at + runs[0].from(axis)) as [number, number];
    this.panel = new Panel(this.units(), runs.some((run) => run.head.joints.length > 0), extent, {
      shown: () => this.apply(),
      view: (azimuth, elevation) => first.look(azimuth, elevation),
      fit: () => first.fit(),
    });
    this.playback.speed = head.axis[1] === "s" ? fittingSpeed(this.end() - head.time[0]) : 1;
    this.player = new Player(SPEEDS, this.playback.speed, {
      play: () => this.playback.toggle(),
      step: (by) => this.step(by),
      seek: (time) => this.seekNear(time),
      speed: (times) => (this.playback.speed = times),
      loop: (loop) => (this.playback.loop = loop),
    });
    this.playback.onTime = () => this.showTime();
    this.playback.onState = () => this.player.setPlaying(this.playback.playing);
    this.card = new BlockCard(this.scenes, (...given) => this.chart(...given), () => this.select(this.scenes[0], -1));
    this.describe();
    this.linkScenes();
    this.drawCharts();
    this.apply();
    first.look(28, 16);
    addEventListener("keydown", (event) => this.key(event));
    addEventListener("click", (event) => release(event));
    addEventListener("resize", () => [...this.charts, ...this.card.histories].forEach((chart) => chart.setWidth(chartWidth())));
    if (runs.some((run) => run.head.live)) void this.follow();
  }

  /** Shows a frame of the first run; resolves when it is drawn. */
  seek = async (frame: number) => {
    const times = this.runs[0].head.time;
    this.playback.seek(times[Math.min(times.length - 1, Math.max(0, Math.round(frame)))]);
    await this.drawn();
  };

  /** Resolves when the present time is drawn with all requested data. */
  async drawn(): Promise<void> {
    while (!this.showTime()) {
      if (!byId("trouble").hidden) throw new Error(byId("trouble").textContent!);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    this.drawMs = this.scenes.reduce((sum, { stage }) => sum + stage.timed(), 0);
  }

  time = () => this.playback.time;

  colourBy = async (name: string) => {
    this.panel.setColour(name);
    await this.drawn();
  };

  /** Selects a block by its number in the first run, or the one of the first scene under a pixel of the page. */
  pick = (block: number | { x: number; y: number }) => {
    const [{ stage }] = this.scenes;
    const { left, top } = stage.canvas.getBoundingClientRect();
    const number = typeof block === "number" ? block : stage.pick(block.x - left, block.y - top);
    this.select(this.scenes[0], number);
    return number;
  };

  selected = () => this.scenes[0].selected;

  look = (azimuth: number, elevation: number) => this.scenes[0].stage.look(azimuth, elevation);

  /** Where a block is on the page [pixels]. */
  pixel = (block: number) => {
    const [{ stage }] = this.scenes;
    const { left, top } = stage.canvas.getBoundingClientRect();
    const [x, y] = stage.pixel(block);
    return { x: left + x, y: top + y };
  };

  stats = () => ({
    blocks: this.runs.map((run) => run.head.blocks.name.length),
    frames: this.runs.map((run) => run.head.time.length),
    loaded: this.runs.map((run) => run.loaded()),
    drawMs: this.drawMs,
  });

  /** Simplifies the drawing if it is slow. */
  spare(): void {
    if (this.drawMs < SLOW_FRAME) return;
    const again = this.scenes.reduce((sum, { stage }) => sum + stage.timed(), 0); // the first time, shaders were compiled
    if (again > SLOW_FRAME) this.scenes.forEach(({ stage }) => stage.simplify());
  }

  private end = () => Math.max(...this.runs.map((run) => run.head.time[run.head.time.length - 1]));

  private apply(): void {
    this.scenes.forEach((scene) => scene.apply(this.panel.shown));
    this.drawMarks();
  }

  private units(): Map<string, string> {
    const units = new Map([["stone", ""], ["displacement", "m"], ["rotation", "rad"]]);
    for (const run of this.runs) for (const { name, unit } of run.head.quantities) units.set(name, unit);
    return units;
  }

  private describe(): void {
    const { head } = this.runs[0];
    document.title = `${this.runs.map((run) => run.head.name).join(", ")} · drystone`;
    byId("title").textContent = this.runs.length > 1 ? `${this.runs.length} runs` : head.title || head.name;
    byId("subtitle").textContent = this.runs.length > 1 ? "" : head.analysis;
    byId("help").replaceChildren(...HELP.flatMap(([key, what]) => [make("kbd", {}, key), ` ${what}  `]));
    byId("facts").replaceChildren(...this.runs.flatMap((run) => [
      ...(this.runs.length > 1 ? [make("dt", {}, "run"), make("dd", {}, make("b", {}, run.head.name))] : []),
      ...run.head.facts.flatMap(([label, text]) => [make("dt", {}, label), make("dd", {}, text)]),
    ]));
  }

  /** One view for all scenes; a click selects a block in all runs that have one of its name. */
  private linkScenes(): void {
    this.scenes.forEach((scene, number) => {
      const others = this.scenes.filter((other) => other !== scene);
      scene.stage.onView = () => others.forEach(({ stage }) => stage.setView(scene.stage.view()));
      scene.run.onTrouble = trouble;
      scene.run.onNews = (what) => this.news(what);
      let pressed = [0, 0];
      scene.stage.canvas.addEventListener("pointerdown", (event) => (pressed = [event.clientX, event.clientY]));
      scene.stage.canvas.addEventListener("click", (event) => {
        if (Math.hypot(event.clientX - pressed[0], event.clientY - pressed[1]) > 4) return; // turned, not clicked
        this.select(scene, scene.stage.pick(event.offsetX, event.offsetY));
      });
      if (number) scene.stage.setView(this.scenes[0].stage.view());
    });
  }

  private select(scene: Scene, block: number): void {
    const name = scene.run.head.blocks.name[block] ?? "";
    for (const one of this.scenes) one.select(one === scene ? block : one.run.head.blocks.name.indexOf(name));
    this.card.show(this.playback.time);
  }

  private news(what: "frames" | "curves"): void {
    byId("trouble").hidden = true;
    if (what === "curves") this.grown();
    const frames = this.runs.reduce((sum, run) => sum + run.head.time.length, 0);
    this.player.setCame(this.runs.reduce((sum, run) => sum + run.loaded(), 0) / frames);
    if (!this.playback.playing) this.showTime();
    this.card.growSoon();
  }

  /** Takes in new frames of a run; a view of the end of the run stays at its end. */
  private grown(): void {
    const atEnd = this.playback.time >= this.playback.end;
    this.drawCharts();
    if (atEnd && !this.playback.playing) this.playback.seek(this.end());
  }

  private async follow(): Promise<void> {
    while (this.runs.some((run) => run.head.live)) {
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL));
      try {
        await Promise.all(this.runs.filter((run) => run.head.live).map((run) => run.grow()));
      } catch (error) {
        trouble(error as Error);
        return;
      }
    }
  }

  /** Shows every scene at the present time; false while data are still missing. */
  private showTime(): boolean {
    const drawn = this.scenes.map((scene) => scene.show(scene.run.frameAt(this.playback.time)));
    this.drawMarks();
    return drawn.every(Boolean);
  }

  private drawMarks(): void {
    const [{ head }, time] = [this.runs[0], this.playback.time];
    const frame = Math.round(this.runs[0].frameAt(time));
    this.player.setTime(time, `${this.runs[0].timeText(time)} · frame ${frame + 1} of ${head.time.length}${head.live ? " · computing" : ""}`);
    this.charts.forEach((chart) => chart.setTime(time));
    this.card.setTime(time);
  }

  /** Draws the curves of all runs; curves of the same title share a chart. */
  private drawCharts(): void {
    const titles = new Map<string, { curve: Curve; lines: Line[] }>();
    this.runs.forEach((run, number) => run.head.curves.forEach((curve) => {
      const found = titles.get(curve.title) ?? { curve, lines: [] };
      found.lines.push(...curve.series.map(({ label, values }) => ({ label, values, time: curve.time, run: number })));
      titles.set(curve.title, found);
    }));
    const lines = [...titles.values()].map((one) => one.lines);
    if (!grown(this.charts, lines)) this.makeCharts(titles);
    this.playback.end = this.end();
    this.player.setRange(this.runs[0].head.time[0], this.end());
  }

  private makeCharts(titles: Map<string, { curve: Curve; lines: Line[] }>): void {
    this.charts.forEach((chart) => chart.close());
    this.charts = [...titles.values()].map(({ curve, lines }) => this.chart(curve.title, curve.unit, lines, byId("charts"), curve.axis));
  }

  /** A chart over time, where a click seeks, or over an axis of its own. */
  private chart(title: string, unit: string, lines: Line[], into: HTMLElement, axis?: [string, string]): Chart {
    const seek = axis ? undefined : (time: number) => this.seekNear(time);
    const chart = new Chart(title, unit, axis ?? this.runs[0].head.axis, lines, chartWidth(), seek);
    into.append(chart.element);
    chart.setTime(this.playback.time);
    return chart;
  }

  private step(by: number): void {
    const times = this.runs[0].head.time;
    const now = this.runs[0].frameAt(this.playback.time);
    const next = by < 0 ? Math.ceil(now - 1e-6) + by : Math.floor(now + 1e-6) + by;
    this.playback.seek(times[Math.min(times.length - 1, Math.max(0, next))]);
  }

  /** Seeks the frame nearest to a time. */
  private seekNear(time: number): void {
    const run = this.runs.reduce((longest, one) => (one.head.time.length > longest.head.time.length ? one : longest));
    this.playback.seek(run.head.time[Math.round(run.frameAt(time))]);
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || keeps(event.target as HTMLElement, event.key)) return;
    const frames = event.shiftKey ? 10 : 1;
    const actions: Record<string, () => void> = {
      " ": () => this.playback.toggle(),
      ArrowLeft: () => this.step(-frames),
      ArrowRight: () => this.step(frames),
      Home: () => this.step(-Infinity),
      End: () => this.step(Infinity),
      Escape: () => this.select(this.scenes[0], -1),
      c: () => this.panel.nextColour(),
      f: () => this.panel.toggle("forces"),
      t: () => this.panel.toggle("thrust"),
      g: () => this.panel.toggle("ghost"),
      p: () => this.panel.toggle("orthographic"),
      s: () => this.panel.nextSection(),
      "+": () => this.panel.exaggerate(1),
      "=": () => this.panel.exaggerate(1),
      "-": () => this.panel.exaggerate(-1),
    };
    const view = "12340".indexOf(event.key);
    const action = view >= 0 ? () => (byId("views").children[view] as HTMLElement).click() : actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }
}

/** Whether a key is for the control that has the focus. */
function keeps(target: HTMLElement, key: string): boolean {
  if (target instanceof HTMLSelectElement || (target instanceof HTMLInputElement && target.type === "number")) return true;
  if (target instanceof HTMLInputElement && target.type === "range") return key.startsWith("Arrow") && !byId("player").contains(target);
  return key === " " && target.matches("button, input");
}

/** Returns the keyboard to the page after a click on a button; a focus set by the keyboard stays. */
function release(event: MouseEvent): void {
  const { activeElement } = document;
  if (event.detail > 0 && activeElement instanceof HTMLElement && activeElement.matches("button, [type=checkbox]")) activeElement.blur();
}

const chartWidth = () => byId("panel").clientWidth - 24;

/** The fastest speed at which a motion of this duration [s] lasts at least four seconds. */
function fittingSpeed(seconds: number): number {
  const slow = SPEEDS.filter(([, times]) => times <= 1 && seconds / times >= 4);
  return slow.length ? slow[slow.length - 1][1] : SPEEDS[0][1];
}

function trouble(error: Error): void {
  byId("trouble").textContent = error.message;
  byId("trouble").hidden = false;
}

async function open(): Promise<Page> {
  if (typeof DecompressionStream === "undefined")
    throw new Error("this browser cannot unpack the frames (it has no DecompressionStream); use one from 2023 or later");
  const source = openSource();
  const names = await source.json<{ name: string }[]>("runs");
  const page = new Page(await Promise.all(names.map((_, number) => Run.open(source, number))));
  await page.drawn();
  page.spare();
  document.body.dataset.ready = "true";
  return page;
}

const ready = open();
ready.catch((error: Error) => trouble(error));
const pageNow = { ready: ready.then(() => true) } as Record<string, unknown>; // for tests
(window as unknown as { drystone: typeof pageNow }).drystone = pageNow;
void ready.then((page) => {
  for (const name of ["seek", "time", "pick", "selected", "look", "colourBy", "pixel", "stats"] as const)
    pageNow[name] = (...given: never[]) => (page[name] as (...given: never[]) => unknown)(...given);
}, () => {});
