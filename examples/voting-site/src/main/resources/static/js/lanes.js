import { colors, drawAxis, drawLane, Span } from './plot.js';
import { columns, rollingCount } from './series.js';

const NAMES = {
  fixed: ['Fixed window', 'Starts anew when its window ends.'],
  'sliding-list': ['Sliding log, list', 'Keeps each call for one period.'],
  'sliding-zset': ['Sliding log, sorted set', 'The same, and spots repeats.'],
  'token-bucket': ['Token bucket', 'Refills steadily, up to what it holds.'],
};
/** The server sends calls some times a second. They are drawn with this delay, so that none appears in the past. */
const BEHIND_MILLIS = 350;
const CALM_MILLIS = 500;

const find = (id) => document.getElementById(id);

/** The four lanes and the axis below them. All have the same time and the same scale, so they can be compared by eye. */
export class Lanes {
  constructor(notes) {
    this.notes = notes;
    this.parts = [];
    this.point = null;
    this.calm = window.matchMedia('(prefers-reduced-motion: reduce)');
    this.drawnAt = 0;
    this.paint = colors();
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { this.paint = colors(); });
    this.listen();
    const frame = () => {
      this.draw();
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  /** Shows totals and what is left: whenever the server has sent something. */
  tell() {
    const { lanes, limits } = this.notes;
    lanes.forEach((lane, index) => {
      const part = this.parts[index] || this.addLane(lane);
      part.find('.admitted').textContent = `${lane.admitted} admitted`;
      part.find('.denied').textContent = `${lane.denied} denied`;
      const meter = part.find('meter');
      meter.max = lane.capacity;
      meter.value = lane.remaining;
      const fallback = lane.source === 'LOCAL_FALLBACK' ? ', Redis is unreachable' : '';
      part.find('.left span').textContent = `${lane.remaining} of ${lane.capacity} left${fallback}`;
      part.canvas.setAttribute('aria-label', `${part.title}: ${lane.admitted} admitted, ${lane.denied} denied`);
    });
    find('legend-sum').textContent = `admitted in the last ${limits.periodMillis / 1000} s`;
  }

  addLane({ algorithm }) {
    const element = find('lane').content.firstElementChild.cloneNode(true);
    const [title, promise] = NAMES[algorithm];
    element.dataset.algorithm = algorithm;
    element.querySelector('h3').textContent = title;
    element.querySelector('.promise').textContent = promise;
    find('lanes').append(element);
    const part = {
      algorithm,
      title,
      canvas: element.querySelector('canvas'),
      find: (selector) => element.querySelector(selector),
    };
    element.querySelector('meter').setAttribute('aria-label', `${title}: calls left`);
    this.parts.push(part);
    return part;
  }

  span(width) {
    const { periodMillis } = this.notes.limits;
    const periods = width < 500 ? 3 : 4;
    const millis = Math.max(6000, periods * periodMillis);
    return new Span(this.notes.now() - BEHIND_MILLIS, millis, width);
  }

  draw() {
    const now = performance.now();
    if (this.parts.length === 0 || document.hidden || (this.calm.matches && now - this.drawnAt < CALM_MILLIS)) {
      return;
    }
    this.drawnAt = now;
    const { arrivals, limits } = this.notes;
    const span = this.span(this.parts[0].canvas.clientWidth);
    if (this.point && this.point.at < span.start) {
      this.leave();
    }
    const scale = this.scale(span);
    this.parts.forEach((part, lane) => {
      const windowed = part.algorithm === 'fixed';
      drawLane(part.canvas, lane, { arrivals, limits, span, ...scale, paint: this.paint, windowed, point: this.point });
    });
    drawAxis(find('axis'), span, this.paint);
  }

  /** One scale for all four: high enough for the limit, and for the lane that admitted most. */
  scale(span) {
    const { arrivals, limits } = this.notes;
    let top = limits.permits * 1.35;
    let deepest = 4;
    this.parts.forEach((part, lane) => {
      for (const { at, count } of rollingCount(arrivals, lane, limits.periodMillis)) {
        if (at >= span.start - limits.periodMillis) {
          top = Math.max(top, count * 1.1);
        }
      }
      for (const column of columns(arrivals, lane, (6 * span.millis) / span.width)) {
        if (column.at >= span.start) {
          deepest = Math.max(deepest, column.denied);
        }
      }
    });
    return { top, deepest };
  }

  listen() {
    const lanes = find('lanes');
    const at = (event) => {
      const canvas = event.target.closest('.plot') ? this.parts[0].canvas : null;
      if (canvas) {
        const box = canvas.getBoundingClientRect();
        this.pointAt(this.span(box.width).at(event.clientX - box.left));
      } else {
        this.leave();
      }
    };
    lanes.addEventListener('pointermove', at);
    lanes.addEventListener('pointerdown', at);
    lanes.addEventListener('pointerleave', (event) => { if (event.pointerType === 'mouse') { this.leave(); } });
    lanes.addEventListener('keydown', (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (step) {
        event.preventDefault();
        this.go(step);
      } else if (event.key === 'Escape') {
        this.leave();
      }
    });
    lanes.addEventListener('blur', () => this.leave());
  }

  go(step) {
    const { arrivals } = this.notes;
    const next = this.point ? arrivals.indexOf(this.point) + step : arrivals.length - 1;
    const index = Math.max(0, Math.min(arrivals.length - 1, next));
    if (arrivals[index]) {
      this.show(arrivals[index]);
      find('spoken').textContent = this.parts.map((part, lane) => `${part.title}: ${this.verdictText(lane)}`).join('; ');
    }
  }

  pointAt(time) {
    let nearest = null;
    for (const arrival of this.notes.arrivals) {
      if (nearest === null || Math.abs(arrival.at - time) < Math.abs(nearest.at - time)) {
        nearest = arrival;
      }
    }
    if (nearest) {
      this.show(nearest);
    }
  }

  show(arrival) {
    this.point = arrival;
    this.parts.forEach((part, lane) => {
      const point = part.find('.point');
      point.textContent = this.verdictText(lane);
      point.dataset.kind = arrival.verdicts[lane].allowed ? 'admitted' : 'denied';
    });
  }

  leave() {
    this.point = null;
    this.parts.forEach((part) => { part.find('.point').textContent = ''; });
  }

  verdictText(lane) {
    const { allowed, remaining, retryAfter, source } = this.point.verdicts[lane];
    const by = { LOCAL_FALLBACK: ', decided by this instance: Redis is unreachable', CACHED_DENIAL: ', known from an earlier denial' }[source] || '';
    if (allowed) {
      return `call ${this.point.number} admitted, ${remaining} left${by}`;
    }
    const wait = retryAfter < 0 ? 'can never be allowed' : `allowed in ${(retryAfter / 1000).toFixed(2)} s`;
    return `call ${this.point.number} denied, ${wait}${by}`;
  }
}
