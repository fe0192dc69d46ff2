// The player at the foot of the page: buttons, the slider of time and the speed; each use calls a function of `on`.

import { byId, make } from "./make";

interface PlayerActions {
  play: () => void;
  step: (by: number) => void;
  seek: (time: number) => void;
  speed: (times: number) => void;
  loop: (loop: boolean) => void;
}

export class Player {
  private readonly play = make("button", { textContent: "▶", title: "play or pause (space)" });
  private readonly slider = make("input", { type: "range", step: "any", ariaLabel: "time" });
  private readonly came = make("progress", { max: 1, value: 0, title: "loaded frames" });
  private readonly text = make("output");
  private readonly speed = make("select", { title: "speed" });

  constructor(speeds: [string, number][], speed: number, on: PlayerActions) {
    this.speed.append(...speeds.map(([label, times]) => make("option", { value: String(times) }, label)));
    this.speed.value = String(speed);
    this.speed.onchange = () => on.speed(Number(this.speed.value));
    this.play.onclick = on.play;
    this.slider.oninput = () => on.seek(Number(this.slider.value));
    const loop = make("input", { type: "checkbox", oninput: () => on.loop(loop.checked) });
    byId("player").append(
      make("button", { textContent: "⇤", title: "start (Home)", onclick: () => on.step(-Infinity) }),
      make("button", { textContent: "‹", title: "one frame back (←)", onclick: () => on.step(-1) }),
      this.play,
      make("button", { textContent: "›", title: "one frame forward (→)", onclick: () => on.step(1) }),
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
