// The controls in the page: a sheet and its controls come in; each change goes out to `moved`.

import { make } from "./make";
import { at, azimuthOf, directionOf, numberOf, withUnit, type Control, type Sheet, type Value } from "./studio-sheet";

const TITLES: Record<string, string> = {
  structure: "Structure", joints: "Joints", statics: "Load that grows until collapse", push: "Point load",
  motion: "Motion of the ground", dynamics: "History",
};
const LABELS: Record<string, string> = { "statics.grows": "load", "push.on": "on block", "push.share": "share of weight", "statics.direction": "towards", "motion.direction": "towards" };

type Moved = (control: Control, value: Value | undefined) => void;

/** Draws all controls anew. */
export function showControls(form: HTMLElement, sheet: Sheet, controls: Control[], about: string, moved: Moved): void {
  form.replaceChildren();
  let group = "";
  for (const control of controls) {
    const parts = control.place.split(".");
    const heading = parts[1] === "parts" ? `Part ${at(sheet, parts.slice(0, 3).join(".") + ".name") ?? parts[2]}` : TITLES[parts[0]];
    if (heading !== group) form.append(make("h2", { textContent: heading }));
    group = heading;
    form.append(row(control, sheet, moved));
    if (control.place === "structure.generator") form.append(make("p", { className: "about", textContent: about }));
  }
  setValues(form, sheet, controls);
}

/** Puts the values of the sheet into the controls, except into the one in which the user types. */
export function setValues(form: HTMLElement, sheet: Sheet, controls: Control[]): void {
  for (const control of controls) {
    const inputs = form.querySelectorAll<HTMLInputElement | HTMLSelectElement>(`[name="${control.place}"]`);
    for (const input of inputs) if (input !== document.activeElement || input.type === "range") input.value = textOf(control, at(sheet, control.place));
  }
}

/** The names of blocks that can be chosen. */
export function setNames(names: string[]): void {
  const list = document.getElementById("names") ?? document.body.appendChild(make("datalist", { id: "names" }));
  list.replaceChildren(...names.map((name) => make("option", { value: name })));
}

/** Shows an error beside the control that it is about; false if there is no such control. */
export function setWrong(form: HTMLElement, place: string, message: string): boolean {
  for (const row of form.querySelectorAll<HTMLElement>(".control")) {
    const about = row.dataset.place === place && message !== "";
    row.classList.toggle("bad", about);
    row.querySelector(".wrong")!.textContent = about ? message : "";
  }
  return form.querySelector(".control.bad") !== null;
}

function row(control: Control, sheet: Sheet, moved: Moved): HTMLElement {
  const box = make("div", { className: "control" });
  box.dataset.place = control.place;
  const label = make("label", { textContent: LABELS[control.place] ?? control.place.split(".").pop()!.replaceAll("_", " ") });
  box.append(label, ...inputs(control, sheet, moved), make("span", { className: "wrong" }));
  const first = box.querySelector<HTMLElement>("input:not([type=range]), select")!;
  label.htmlFor = first.id = `control-${control.place}`;
  return box;
}

function inputs(control: Control, sheet: Sheet, moved: Moved): HTMLElement[] {
  if (control.kind === "choice") {
    const known = new Set([...control.choices, String(at(sheet, control.place))]);
    const select = make("select", { name: control.place, className: "wide" });
    select.append(...[...known].map((choice) => make("option", { value: choice, textContent: choice })));
    select.onchange = () => moved(control, select.value);
    return [select];
  }
  const field = make("input", { name: control.place, autocomplete: "off", className: "after" });
  field.oninput = () => moved(control, valueOf(control, field.value));
  if (control.kind === "names" || control.kind === "value") {
    field.className = "wide";
    if (control.kind === "names") field.setAttribute("list", "names");
    if (control.optional) field.placeholder = "none";
    return [field];
  }
  const azimuth = control.kind === "azimuth";
  const [low, high, step] = azimuth ? [0, 360, 5] : [control.low, control.high, control.step];
  Object.assign(field, { type: "number", step: "any", placeholder: control.optional ? "none" : "" });
  const unit = make("span", { className: "unit", textContent: azimuth ? "deg" : control.unit });
  if (!(high > low)) return [field, unit];
  const slider = make("input", { type: "range", name: control.place, min: String(low), max: String(high), step: String(step) });
  slider.setAttribute("aria-label", `${control.place} slider`);
  slider.oninput = () => moved(control, valueOf(control, slider.value));
  return [slider, field, unit];
}

function textOf(control: Control, value: Value | undefined): string {
  if (value === undefined) return "";
  if (control.kind === "azimuth") return String(azimuthOf(value));
  if (control.kind === "number" || control.kind === "count") return String(numberOf(value));
  return control.kind === "value" ? JSON.stringify(value) : String(value);
}

/** The value of a field; undefined if it is empty. Text that is not a number or JSON is passed on and refused by the server with a reason. */
function valueOf(control: Control, text: string): Value | undefined {
  if (text.trim() === "") return undefined;
  if (control.kind === "names") return text;
  if (control.kind === "value") {
    try {
      return JSON.parse(text) as Value;
    } catch {
      return text;
    }
  }
  const number = Number(text);
  if (!Number.isFinite(number)) return text;
  if (control.kind === "azimuth") return directionOf(number);
  return control.kind === "count" ? number : withUnit(number, control.unit);
}
