// The clock of the page: playing, speed and the time that is shown; all runs follow it.

export class Playback {
  time = 0;
  playing = false;
  loop = false;
  speed = 1;
  pace = 1; // units of the axis a second at speed 1
  onTime = () => {};
  onState = () => {};
  private last = 0; // [ms] when the time was last moved on

  constructor(private begin: number, private end: number) {
    this.time = begin;
  }

  setEnd(end: number): void {
    this.end = end;
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
