// Histories beside the scene: curves over time come in, a chart with a mark at the present time goes out.

import uPlot from "uplot";
import { digits, fitting } from "./amounts";

export interface Line {
  label: string;
  time: number[];
  values: (number | null)[];
  run?: number; // dashed if it is not of the first run
}

// told apart by the colour-blind too (Okabe and Ito)
const INKS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#333333"];
const DASHES = [[], [6, 3], [2, 2], [8, 3, 2, 3]];
const GRID = "#e9e7e3";
const FONT = "11px system-ui, sans-serif";

export class Chart {
  readonly element = document.createElement("figure");
  private readonly caption = document.createElement("figcaption");
  private readonly mark = document.createElement("div");
  private readonly readings: HTMLElement[] = [];
  private readonly plot: uPlot;
  private readonly size: number; // [SI] of the unit that is drawn
  private readonly unit: string;

  constructor(title: string, unit: string, axis: string, private readonly lines: Line[], width: number, onSeek: (time: number) => void) {
    const most = Math.max(0, ...lines.map((line) => line.values.reduce<number>((large, value) => Math.max(large, Math.abs(value ?? 0)), 0)));
    ({ name: this.unit, size: this.size } = fitting(most, unit));
    this.describe(title);
    this.element.append(this.caption);
    this.plot = new uPlot(this.options(axis, width), this.table(), this.element);
    this.mark.className = "mark";
    this.plot.over.append(this.mark);
    this.plot.over.addEventListener("pointerdown", (event) => this.plot.over.setPointerCapture(event.pointerId));
    for (const kind of ["pointerdown", "pointermove"] as const)
      this.plot.over.addEventListener(kind, (event) => {
        if (event.buttons & 1) onSeek(this.plot.posToVal(event.clientX - this.plot.over.getBoundingClientRect().left, "x"));
      });
  }

  setTime(time: number): void {
    const at = this.plot.valToPos(time, "x");
    this.mark.style.transform = `translateX(${at}px)`;
    this.lines.forEach((line, i) => (this.readings[i].textContent = reading(line, time, this.size)));
  }

  setWidth(width: number): void {
    this.plot.setSize({ width, height: this.plot.height });
  }

  close(): void {
    this.plot.destroy();
    this.element.remove();
  }

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

  private options(axis: string, width: number): uPlot.Options {
    const look = { stroke: "#555", font: FONT, grid: { stroke: GRID, width: 1 }, ticks: { stroke: GRID, width: 1, size: 4 } };
    const series = this.lines.map((line, i) => ({
      label: line.label, stroke: ink(this.lines, i), width: 1.4, dash: DASHES[(line.run ?? 0) % DASHES.length],
      points: { show: line.time.length < 12 }, spanGaps: true,
    }));
    return {
      width, height: 116, padding: [6, 10, 0, 0], legend: { show: false }, series: [{}, ...series],
      scales: { x: { time: false } },
      cursor: { drag: { x: false, y: false }, y: false, points: { size: 5 } },
      axes: [
        { ...look, size: 26, label: undefined, values: (_, ticks) => ticks.map((tick, i) => (i === ticks.length - 1 ? `${digits(tick)} ${axis}` : digits(tick))) },
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

/** Lines of one name have one colour in all runs. */
function ink(lines: Line[], index: number): string {
  const labels = [...new Set(lines.map((line) => line.label))];
  return INKS[labels.indexOf(lines[index].label) % INKS.length];
}

function reading(line: Line, time: number, size: number): string {
  let nearest = 0;
  for (let i = 1; i < line.time.length; i++) if (Math.abs(line.time[i] - time) < Math.abs(line.time[nearest] - time)) nearest = i;
  const value = line.values[nearest];
  return value === null || value === undefined ? "–" : digits(value / size);
}
