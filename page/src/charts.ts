// The charts beside the scene: curves over time come in, a chart with a mark at the present time goes out.

import uPlot from "uplot";
import { digits, fitting } from "./amounts";

export interface Line {
  label: string;
  time: number[];
  values: (number | null)[];
  run?: number; // lines of other runs than the first are dashed
}

// distinguishable with colour blindness (Okabe and Ito)
const LINE_COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#333333"];
const LINE_DASHES = [[], [6, 3], [2, 2], [8, 3, 2, 3]];
const TICK_COUNTS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]; // distances between ticks of integers
const GRID_COLOUR = "#e9e7e3";
const FONT = "11px system-ui, sans-serif";

export class Chart {
  readonly element = document.createElement("figure");
  private readonly caption = document.createElement("figcaption");
  private readonly mark = document.createElement("div");
  private readonly readings: HTMLElement[] = [];
  private readonly plot: uPlot;
  private readonly size: number; // [SI] of the unit that is drawn
  private readonly unit: string;
  private time = 0; // of the mark

  constructor(
    title: string, private readonly of: string, axis: [string, string], private lines: Line[], width: number, // of: the SI unit
    private readonly onSeek?: (time: number) => void, // for a chart over time
  ) {
    ({ name: this.unit, size: this.size } = fitting(largest(lines), of));
    this.describe(title);
    this.element.append(this.caption);
    this.plot = new uPlot(this.options(axis, width), this.table(), this.element);
    if (onSeek) this.addMark(onSeek);
  }

  setTime(time: number): void {
    if (!this.onSeek) return;
    this.time = time;
    this.placeMark();
    this.lines.forEach((line, i) => (this.readings[i].textContent = reading(line, time, this.size)));
  }

  /** Takes in longer versions of the same lines; false if the lines are others or need another unit. */
  grow(lines: Line[]): boolean {
    const labels = (some: Line[]) => some.map((line) => line.label).join();
    if (labels(lines) !== labels(this.lines) || fitting(largest(lines), this.of).name !== this.unit) return false;
    this.lines = lines;
    this.plot.setData(this.table());
    this.setTime(this.time);
    return true;
  }

  setWidth(width: number): void {
    this.plot.setSize({ width, height: this.plot.height });
  }

  close(): void {
    this.plot.destroy();
    this.element.remove();
  }

  private addMark(onSeek: (time: number) => void): void {
    this.mark.className = "mark";
    this.plot.over.classList.add("seeks");
    this.plot.over.append(this.mark);
    this.plot.over.addEventListener("pointerdown", (event) => this.plot.over.setPointerCapture(event.pointerId));
    for (const kind of ["pointerdown", "pointermove"] as const)
      this.plot.over.addEventListener(kind, (event) => {
        if (event.buttons & 1) onSeek(this.plot.posToVal(event.clientX - this.plot.over.getBoundingClientRect().left, "x"));
      });
  }

  private placeMark = () => {
    this.mark.style.transform = `translateX(${this.plot.valToPos(this.time, "x") || 0}px)`;
  };

  private describe(title: string): void {
    const name = document.createElement("strong");
    name.textContent = this.unit ? `${title} [${this.unit}]` : title;
    this.caption.append(name);
    this.lines.forEach((line, i) => {
      const entry = document.createElement("span");
      const value = document.createElement("output");
      entry.style.color = ink(this.lines, i);
      entry.append(`${line.run ? "┄" : "━"} ${line.label} `, value);
      this.readings.push(value);
      this.caption.append(entry);
    });
  }

  private options([name, unit]: [string, string], width: number): uPlot.Options {
    const look = { stroke: "#555", font: FONT, grid: { stroke: GRID_COLOUR, width: 1 }, ticks: { stroke: GRID_COLOUR, width: 1, size: 4 } };
    const named = this.onSeek ? {} : { label: `${name} [${unit}]`, labelFont: FONT, labelSize: 16 };
    const labelled = (tick: number, i: number, ticks: number[]) => (i < ticks.length - 1 ? digits(tick) : `${digits(tick)} ${unit}`);
    const series = this.lines.map((line, i) => ({
      label: line.label, stroke: ink(this.lines, i), width: 1.4, dash: LINE_DASHES[(line.run ?? 0) % LINE_DASHES.length],
      points: { show: line.time.length < 12 }, spanGaps: true,
    }));
    return {
      width, height: 116, padding: [6, 10, 0, 0], legend: { show: false }, series: [{}, ...series],
      scales: { x: { time: false } },
      hooks: { draw: [() => this.plot && this.placeMark()] }, // uPlot draws later than it is created, and again at every size
      cursor: { drag: { x: false, y: false }, y: false, points: { size: 5 } },
      axes: [
        { ...look, size: 22, ...named, ...(unit ? {} : { incrs: TICK_COUNTS }), values: (_, ticks) => ticks.map((tick, i) => labelled(tick, i, ticks)) },
        { ...look, size: 46, space: 24, values: (_, ticks) => ticks.map(digits) },
      ],
    };
  }

  /** All lines over one axis of times. */
  private table(): uPlot.AlignedData {
    const scaled = (line: Line) => line.values.map((value) => (value === null ? null : value / this.size));
    return uPlot.join(this.lines.map((line) => [line.time, scaled(line)] as uPlot.AlignedData));
  }
}

/** Gives longer lines to the charts; false if the charts must be created again. */
export function grown(charts: Chart[], lines: Line[][]): boolean {
  return charts.length === lines.length && charts.every((chart, i) => chart.grow(lines[i]));
}

/** The largest amount of all lines. */
function largest(lines: Line[]): number {
  return lines.reduce((most, line) => line.values.reduce<number>((large, value) => Math.max(large, Math.abs(value ?? 0)), most), 0);
}

/** The colour of a line; lines of the same name have the same colour in all runs. */
function ink(lines: Line[], index: number): string {
  const labels = [...new Set(lines.map((line) => line.label))];
  return LINE_COLOURS[labels.indexOf(lines[index].label) % LINE_COLOURS.length];
}

function reading(line: Line, time: number, size: number): string {
  let nearest = 0;
  for (let i = 1; i < line.time.length; i++) if (Math.abs(line.time[i] - time) < Math.abs(line.time[nearest] - time)) nearest = i;
  const value = line.values[nearest];
  return value === null || value === undefined ? "–" : digits(value / size);
}
