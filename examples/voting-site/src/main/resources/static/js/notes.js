// What the page knows of the laboratory: the calls with their decisions, and the server's clock.

const MOST_ARRIVALS = 1000;

export class Notes {
  constructor() {
    this.round = 0;
    this.arrivals = [];
    this.last = 0;
    this.lanes = [];
    this.limits = { permits: 3, periodMillis: 10000, burst: 3 };
    this.running = false;
    this.offset = null;
    this.instance = '';
    this.backend = '';
  }

  /** Takes the server's data; true if a new round began. */
  take(view, sentAt, receivedAt) {
    const anew = view.round !== this.round;
    if (anew || view.instance !== this.instance) {
      this.offset = null;
    }
    if (anew) {
      this.arrivals = [];
      this.last = 0;
    }
    for (const arrival of view.arrivals) {
      if (arrival.number > this.last) {
        this.arrivals.push(arrival);
        this.last = arrival.number;
      }
    }
    this.arrivals.splice(0, this.arrivals.length - MOST_ARRIVALS);
    this.round = view.round;
    this.lanes = view.lanes;
    this.limits = view.limits;
    this.running = view.running;
    this.instance = view.instance;
    this.backend = view.backend;
    this.keepClock(view.now - (sentAt + receivedAt) / 2);
    return anew;
  }

  /** The server's time now. Answers take different times; the axis must not jump for that. */
  now() {
    return performance.now() + (this.offset || 0);
  }

  keepClock(offset) {
    const off = this.offset === null || Math.abs(offset - this.offset) > 1000;
    this.offset = off ? offset : this.offset + (offset - this.offset) * 0.1;
  }
}
