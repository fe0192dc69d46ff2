// The studio: when a control moves, the page shows at once how the structure stands and collapses. An answer is shown as current
// only if its digest is that of the present controls. From the moment a control moves until then, the whole answer is grey.

import "../studio.css";
import { make } from "./make";
import { setNames, setValues, setWrong, showControls } from "./studio-controls";
import { LOOKS, StudioScene, type Collapse, type Look, type Rest, type Shape } from "./studio-scene";
import { UndoHistory, at, digestOf, put, type Control, type Sheet, type Value } from "./studio-sheet";

interface Arranged { sheet: Sheet; controls: Control[] }
interface Begin extends Arranged { generators: Record<string, string>; folder: string; compiled: boolean }
interface Reply { number: number; digest: string; seconds: number; overtaken?: true; heavy?: number; error?: string; at?: string }
interface Question { page: string; number: number; digest: string; sheet: Sheet; anyway: boolean }
interface Failure { digest: string; error: string; at: string }
interface Launched { out: string; running: boolean; code: number | null; begun: boolean; said: string }

const RETRY_DELAY = 50; // [ms] until an overtaken question is asked again
const POLL_INTERVAL = 500; // [ms] between two requests for the state of a running history
const page = crypto.randomUUID();
const $ = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;

class Studio {
  private sheet: Sheet = {};
  private controls: Control[] = [];
  private generators: Record<string, string> = {};
  private readonly past = new UndoHistory();
  private readonly scene = new StudioScene($("stage"));
  private look: Look = "mechanism";
  private number = 0;
  private asking = false;
  private resting = false;
  private arranging = 0; // sheets whose controls are still to come
  private shape: (Shape & { of: string }) | null = null; // of: digest of the structure
  private collapse: (Collapse & Reply) | null = null;
  private rest: (Rest & Reply) | null = null;
  private heavy: Reply | null = null; // a large structure, which is computed only on request
  private anyway = "";
  private failure: Failure | null = null;
  private waiting: (() => void)[] = [];
  private cold = false; // kernels are compiled for the first answer
  private took = 0; // [ms] from the last change of a control to its multiplier
  private moved = 0;

  async begin(): Promise<void> {
    this.listen();
    const first = (await (await fetch("api/begin")).json()) as Begin;
    this.generators = first.generators;
    this.cold = !first.compiled;
    $("save").title = $("launch").title = `into ${first.folder}`;
    this.arrangedBy(first);
    if (location.hash.length > 1) await this.follow();
    this.changed();
    void this.watch();
  }

  /** Sets the value at a place of the sheet, as a change of its control does. */
  set(place: string, value: Value | undefined): void {
    this.past.keep(this.sheet, place);
    this.take(place.endsWith(".generator") ? this.remade(place, value) : put(this.sheet, place, value));
    const control = this.controls.find((each) => each.place === place);
    if (control?.reshapes) void this.arrange();
    else setValues($("controls"), this.sheet, this.controls);
    this.changed();
  }

  settled(): Promise<void> {
    return new Promise((done) => {
      this.waiting.push(done);
      this.tellSettled();
    });
  }

  /** What the page shows now, for tests. */
  shown() {
    return {
      sheet: this.sheet,
      digest: this.digest,
      current: !document.body.classList.contains("stale"),
      multiplier: $("multiplier")?.dataset.value === undefined ? null : Number($("multiplier").dataset.value),
      figure: $("multiplier")?.textContent ?? null,
      stable: this.collapse?.stable ?? null,
      words: this.collapse?.words ?? null,
      failure: this.failure?.digest === this.digest ? this.failure : null,
      milliseconds: this.took,
      seconds: this.collapse?.seconds ?? null,
    };
  }

  /** The digest of everything on which the answers depend, which excludes the motion of a history. */
  private get digest(): string {
    const { motion, dynamics, output, ...asked } = this.sheet;
    return digestOf(asked);
  }

  /** The sheet with another generator and its default values; the position of a part is kept. */
  private remade(place: string, generator: Value | undefined): Sheet {
    const table = place.replace(/\.generator$/, "");
    const kept = Object.entries(at(this.sheet, table) as Sheet).filter(([key]) => ["name", "mirror", "turn", "at"].includes(key));
    return put(put(this.sheet, table, { ...Object.fromEntries(kept), generator: generator! }), "push.on", "");
  }

  private take(sheet: Sheet): void {
    this.sheet = sheet;
    this.moved = performance.now();
  }

  private arrangedBy({ sheet, controls }: Arranged): void {
    this.sheet = sheet;
    this.controls = controls;
    const generator = String(at(sheet, "structure.generator") ?? "");
    showControls($("controls"), sheet, controls, this.generators[generator] ?? "", (control, value) => this.set(control.place, value));
  }

  /** Requests the controls for the present sheet. */
  private async arrange(): Promise<void> {
    const asked = this.sheet;
    this.arranging++;
    const { status, content } = await ask("arrange", { sheet: asked });
    this.arranging--;
    if (this.sheet !== asked) return this.changed();
    if (status === 200) this.arrangedBy(content as Arranged);
    else this.failure = { digest: this.digest, error: content.error, at: "" };
    this.changed();
  }

  private changed(): void {
    this.render();
    void this.answer();
  }

  /** Asks until the answer belongs to the present controls. There is one question at a time, so that a newer one waits for at most one. */
  private async answer(): Promise<void> {
    if (this.asking) return;
    this.asking = true;
    try {
      while (!this.isAnswered && !this.arranging) await this.askAll();
    } finally {
      this.asking = false;
      this.render();
      void this.askRest();
    }
  }

  private get isAnswered(): boolean {
    const digest = this.digest;
    if (this.failure?.digest === digest) return true;
    if (this.heavy?.digest === digest && this.anyway !== digest) return true;
    return this.collapse?.digest === digest;
  }

  private async askAll(): Promise<void> {
    const [sheet, digest, number] = [this.sheet, this.digest, ++this.number];
    const overtaken = () => this.digest !== digest;
    const question = { page, number, digest, sheet, anyway: this.anyway === digest };
    const structure = digestOf(sheet.structure);
    const first = this.collapse?.digest !== digest && at(sheet, "push.on") ? this.part<Collapse>("collapse", question) : null;
    if (this.shape?.of !== structure) {
      const shape = await this.part<Shape>("shape", question);
      if (!shape) return;
      this.shape = { ...shape, of: structure };
      if (digestOf(this.sheet.structure) === structure) this.drawShape();
      if (overtaken() || this.chooseBlock()) return;
    }
    if (this.collapse?.digest !== digest) {
      const collapse = await (first ?? this.part<Collapse>("collapse", question));
      if (!collapse || overtaken()) return;
      if (collapse.heavy) {
        this.heavy = collapse;
        return;
      }
      this.collapse = collapse;
      this.cold = false;
      this.failure = null;
      this.took = performance.now() - this.moved;
      this.render();
    }
  }

  /** Asks for the forces at rest in a separate loop, so that nothing waits for them. */
  private async askRest(): Promise<void> {
    if (this.resting) return;
    this.resting = true;
    while (this.lacksRest) {
      const [digest, sheet] = [this.digest, this.sheet];
      const rest = await this.part<Rest>("rest", { page, number: this.number, digest, sheet, anyway: this.anyway === digest });
      if (rest) this.rest = rest;
      else if (this.failure?.digest !== digest) await new Promise((done) => setTimeout(done, RETRY_DELAY));
    }
    this.resting = false;
    this.render();
  }

  private get lacksRest(): boolean {
    return this.collapse?.digest === this.digest && this.rest?.digest !== this.digest && this.failure?.digest !== this.digest;
  }

  /** A part of the answer; null if there is none, and then the failure is stored. */
  private async part<T>(part: string, question: Question): Promise<(T & Reply) | null> {
    const { status, content } = await ask(part, question);
    if (status === 200) return content as T & Reply;
    if (status !== 409) this.failure = { digest: question.digest, error: content.error, at: content.at ?? "" };
    return null;
  }

  private drawShape(): void {
    const structure = this.sheet.structure as Sheet;
    this.scene.setShape(this.shape!, String(structure.generator ?? structure.file ?? ""));
    this.drawn = "";
    setNames(this.shape!.names.filter((_, block) => !this.shape!.fixed[block]));
    this.render();
  }

  /** The highest block carries the point load until another one is chosen; true if that changed the sheet. */
  private chooseBlock(): boolean {
    if (at(this.sheet, "push.on")) return false;
    const { names, fixed, geometry } = this.shape!;
    let highest = -1;
    names.forEach((_, block) => {
      if (!fixed[block] && (highest < 0 || geometry.centre[3 * block + 2] > geometry.centre[3 * highest + 2] + 1e-6)) highest = block;
    });
    this.sheet = put(this.sheet, "push.on", names[highest] ?? "");
    setValues($("controls"), this.sheet, this.controls);
    return true;
  }

  /** Brings the page to the present state. */
  private render(): void {
    const digest = this.digest;
    const failure = this.failure?.digest === digest ? this.failure : null;
    const heavy = this.heavy?.digest === digest && this.anyway !== digest;
    const current = this.collapse?.digest === digest;
    document.body.classList.toggle("stale", !current);
    document.body.classList.toggle("shaped", this.scene.isPlain && this.shape?.of === digestOf(this.sheet.structure));
    $("busy").textContent = failure ? "not computed" : heavy ? "waiting" : "computing …";
    const placed = setWrong($("controls"), failure?.at ?? "", failure?.error ?? "");
    $("failure").textContent = failure && !placed ? failure.error : "";
    $("state").replaceChildren(failure ? "the last computed answer is shown" : current ? "" : heavy ? this.offer() : this.cold ? "compiling, which takes about a minute the first time …" : "computing …");
    $("undo").toggleAttribute("disabled", !this.past.can.undo);
    $("redo").toggleAttribute("disabled", !this.past.can.redo);
    if (current) {
      this.write(this.collapse!, this.rest?.digest === digest ? this.rest : null);
      history.replaceState(null, "", "#" + btoa(unescape(encodeURIComponent(JSON.stringify(this.sheet)))));
    }
    if (current) this.draw();
    this.tellSettled();
  }

  private offer(): HTMLElement {
    const button = make("button", { textContent: "Compute", type: "button" });
    button.onclick = () => {
      this.anyway = this.digest;
      this.changed();
    };
    const offer = make("p", { textContent: `${this.heavy!.heavy} contact points: the computation takes from ten seconds to several minutes. ` });
    offer.append(button);
    return offer;
  }

  /** The answer in figures and words. */
  private write(collapse: Collapse, rest: Rest | null): void {
    const grows = at(this.sheet, "statics.grows");
    const { multiplier } = collapse;
    const safe = rest ? rest.safe : collapse;
    const figure = make("div", { className: "figure", id: "multiplier" });
    if (multiplier !== null) figure.dataset.value = String(multiplier);
    if (safe.multiplier_safe !== null) figure.dataset.safe = String(safe.multiplier_safe);
    const formatted = (value: number, angle: number | null) => (grows === "tilt" ? angle!.toFixed(2) + "°" : value.toPrecision(4));
    const upper = multiplier === null ? (collapse.status === "endless" ? "∞" : "–") : formatted(multiplier, collapse.angle);
    const value = safe.multiplier_safe === null ? `at most ${upper}` : formatted(safe.multiplier_safe, safe.angle_safe);
    const unit = { tilt: ` of tilt (tangent ${(safe.multiplier_safe ?? multiplier)?.toPrecision(4)})`, "horizontal force": " g", "point load": this.ownLive ? " × the live loads of the case" : " × the weight of the structure" }[String(grows)] ?? "";
    figure.append(value, make("small", { textContent: multiplier === null ? "" : unit }));
    const stands = make("p", { className: collapse.stable ? "stands" : "falls" });
    stands.textContent = collapse.standing.words;
    const tried = !rest ? "being checked by a history" : `${rest.safe.confirmed ? "" : "NOT CONFIRMED by a history: "}${rest.safe.note}`;
    const known = safe.multiplier_safe === null ? (rest ? `not known: ${rest.safe.note}` : "being computed") : `Coulomb friction over the areas of the joints; ${tried}`;
    const rows = [["safe value", known], ["upper bound", `${upper}, associated friction`], ["verdict", collapse.verdict], ["mechanism", collapse.words]];
    if (rest?.safe.multiplier_from_rest) rows.splice(1, 0, ["begins to move", `at ${formatted(rest.safe.multiplier_from_rest, (Math.atan(rest.safe.multiplier_from_rest) * 180) / Math.PI)}, loaded slowly from natural rest`]);
    if (rest?.safety_factor) {
      rows.push(["thrust line", `geometric safety factor ${rest.safety_factor > 999 ? "above 999" : rest.safety_factor.toFixed(2)}`]);
      if (rest.thrust.some((thrust) => thrust !== null)) rows.push(["thrust", rest.thrust.map((thrust) => (thrust === null ? "any" : (thrust / 1000).toPrecision(4))).join(" to ") + " kN"]);
    }
    const table = make("table");
    for (const row of rows) table.insertRow().append(...row.map((text) => make("td", { textContent: text })));
    $("found").replaceChildren(make("h2", { textContent: "Collapse" }), figure, stands, table);
  }

  private get ownLive(): boolean {
    return ((this.sheet.load as Sheet[] | undefined) ?? []).some((load) => load.live === true);
  }

  /** The present answer in the scene. */
  private draw(): void {
    for (const button of $("show").querySelectorAll("button")) button.ariaPressed = String(button.textContent === this.look);
    const digest = this.digest;
    const rest = this.rest?.digest === digest ? this.rest : null;
    const key = [this.look, digest, this.look === "forces at rest" && rest !== null].join();
    if (key === this.drawn || this.collapse?.digest !== digest) return;
    this.drawn = key;
    this.scene.show(this.look, this.collapse, rest);
    const line = rest?.lines.safest ? "; red: thrust line farthest from the edges" : "";
    $("caption").textContent = {
      mechanism: "mechanism of collapse, one colour per macro-block; red: hinges",
      "forces at collapse": "forces in the joints at collapse; red: thrust line",
      "forces at rest": `forces in the joints under the dead load, with elastic joints${line}`,
    }[this.look];
  }
  private drawn = "";

  private tellSettled(): void {
    if (this.asking || this.arranging || !this.isAnswered || this.lacksRest || !this.controls.length) return;
    for (const done of this.waiting.splice(0)) done();
  }

  private listen(): void {
    for (const look of LOOKS) {
      const button = make("button", { textContent: look, type: "button" });
      button.onclick = () => {
        this.look = look;
        this.draw();
      };
      $("show").append(button);
    }
    $("undo").onclick = () => this.go(this.past.undo(this.sheet));
    $("redo").onclick = () => this.go(this.past.redo(this.sheet));
    addEventListener("keydown", (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
      event.preventDefault();
      this.go(event.shiftKey ? this.past.redo(this.sheet) : this.past.undo(this.sheet));
    });
    $("save").onclick = () => void this.save();
    $("launch").onclick = () => void this.launch();
    $("stop").onclick = () => void ask("stop", {});
    $<HTMLInputElement>("open").onchange = () => void this.open();
    $<HTMLFormElement>("controls").onsubmit = (event) => event.preventDefault();
    let down = [0, 0];
    const canvas = this.scene.stage.canvas;
    canvas.addEventListener("pointerdown", (event) => (down = [event.offsetX, event.offsetY]));
    canvas.addEventListener("pointerup", (event) => {
      if (Math.hypot(event.offsetX - down[0], event.offsetY - down[1]) > 4) return;
      const block = this.scene.stage.pick(event.offsetX, event.offsetY);
      this.scene.stage.select(block);
      const takes = this.controls.some((control) => control.place === "push.on");
      if (block >= 0 && takes && this.shape && !this.shape.fixed[block]) this.set("push.on", this.shape.names[block]);
    });
  }

  private go(sheet: Sheet | undefined): void {
    if (!sheet) return;
    this.take(sheet);
    void this.arrange();
    this.changed();
  }

  /** The sheet of the address. */
  private async follow(): Promise<void> {
    try {
      const sheet = JSON.parse(decodeURIComponent(escape(atob(location.hash.slice(1))))) as Sheet;
      const { status, content } = await ask("arrange", { sheet });
      if (status === 200) this.arrangedBy(content as Arranged);
      else $("failure").textContent = content.error;
    } catch {
      $("saved").textContent = "the link is damaged; the studio starts with its first structure";
    }
  }

  private async open(): Promise<void> {
    const file = $<HTMLInputElement>("open").files?.[0];
    if (!file) return;
    const text = await new Promise<string>((done) => {
      const reader = new FileReader();
      reader.onload = () => done(String(reader.result).split(",")[1] ?? "");
      reader.readAsDataURL(file);
    });
    $<HTMLInputElement>("open").value = "";
    const { status, content } = await ask("open", { name: file.name, content: text });
    if (status !== 200) {
      $("failure").textContent = content.error;
      return;
    }
    this.past.keep(this.sheet, "open");
    this.arrangedBy(content as Arranged);
    this.take(this.sheet);
    this.changed();
  }

  private async save(): Promise<void> {
    const { status, content } = await ask("save", { sheet: this.sheet });
    $("saved").textContent = status === 200 ? `saved ${content.path}` : content.error;
    if (status !== 200) return;
    const link = make("a", { href: URL.createObjectURL(new Blob([content.text], { type: "application/toml" })), download: content.name });
    link.click();
    URL.revokeObjectURL(link.href);
  }

  private async launch(): Promise<void> {
    const { status, content } = await ask("launch", { sheet: this.sheet });
    $("log").textContent = status === 200 ? "" : content.error;
    if (status === 200) void this.watch();
  }

  private async watch(): Promise<void> {
    for (;;) {
      const run = (await (await fetch("api/launched")).json()) as Launched | null;
      if (!run) return;
      $("launch").toggleAttribute("disabled", run.running);
      $("stop").toggleAttribute("disabled", !run.running);
      $("watch").hidden = !run.begun;
      const state = run.running ? "computing" : run.code === 0 ? "done" : `ended with ${run.code}`;
      $("log").textContent = `${run.out}: ${state}\n${run.said.split(/[\r\n]/).filter((line) => line.trim()).slice(-6).join("\n")}`;
      if (!run.running) return;
      await new Promise((done) => setTimeout(done, POLL_INTERVAL));
    }
  }
}

async function ask(path: string, content: unknown): Promise<{ status: number; content: any }> {
  try {
    const body = JSON.stringify(content);
    const answer = await fetch(`api/${path}`, { method: "POST", headers: { "Content-Type": "application/json" }, body });
    return { status: answer.status, content: await answer.json() };
  } catch {
    return { status: 0, content: { error: "the studio does not answer because it has ended; start it again and reload this page" } };
  }
}

const studio = new Studio();
(window as any).studio = { set: studio.set.bind(studio), settled: studio.settled.bind(studio), shown: studio.shown.bind(studio) };
void studio.begin();
