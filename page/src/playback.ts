// The clock of the page: the time that is shown, whether it advances, and how fast; all runs follow it.

export class Playback {
  time = 0;
  playing = false;
  loop = false;
  speed = 1;
  pace = 1; // units of the axis per second at speed 1
  onTime = () => {};
  onState = () => {};
  private last = 0; // [ms] when the time was last advanced

  constructor(private readonly begin: number, public end: number) {
    this.time = begin;
  }

  seek(time: number): void {
    this.time = Math.min(this.end, Math.max(this.begin, time));
    this.onTime();
  }

  toggle(): void {
    this.playing = !this.playing;
    if (this.playing && this.time >= this.end) this.time = this.begin;
    if (this.playing) this.start();
    this.onState();
  }

  private start(): void {
    this.last = performance.now();
    const tick = () => {
      if (!this.playing) return;
      const now = performance.now();
      this.advance(((now - this.last) / 1000) * this.speed * this.pace);
      this.last = now;
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  private advance(by: number): void {
    const over = this.time + by - this.end;
    if (over >= 0 && !this.loop) {
      this.playing = false;
      this.onState();
    }
    this.seek(over >= 0 && this.loop ? this.begin : this.time + by);
  }
}
