import { columns, rollingCount, windows } from './series.js';

const COLUMN_PIXELS = 6;
const DENIED_PART = 0.3;

/** Makes a canvas as sharp as the screen; gives its context and its size in CSS pixels. */
export function surface(canvas) {
  const { clientWidth: width, clientHeight: height } = canvas;
  const ratio = window.devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

export function colors() {
  const style = getComputedStyle(document.documentElement);
  const names = ['ink', 'soft', 'grid', 'admitted', 'sum', 'over', 'denied', 'band', 'card'];
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}

/** The part of time that is shown; everything in milliseconds of the server's clock. */
export class Span {
  constructor(end, millis, width) {
    this.end = end;
    this.start = end - millis;
    this.millis = millis;
    this.width = width;
  }

  x(at) {
    return ((at - this.start) / this.millis) * this.width;
  }

  at(x) {
    return this.start + (x / this.width) * this.millis;
  }
}

/** Seconds between the lines of the grid: about one for each hundred pixels. */
export function gridSeconds(span) {
  const wanted = (span.millis / 1000) * Math.min(1, 90 / span.width);
  return [0.5, 1, 2, 5, 10, 20, 30, 60].find((step) => step >= wanted) || 60;
}

export function drawAxis(canvas, span, paint) {
  const { context, height } = surface(canvas);
  context.font = '12px system-ui, sans-serif';
  context.textBaseline = 'middle';
  const step = gridSeconds(span);
  for (let ago = 0; ago * 1000 <= span.millis; ago += step) {
    const x = span.x(span.end - ago * 1000);
    const text = ago === 0 ? 'now' : `${ago} s ago`;
    const half = context.measureText(text).width / 2;
    context.fillStyle = ago === 0 ? paint.ink : paint.soft;
    context.textAlign = 'left';
    const left = Math.min(span.width - 2 * half, x - half);
    if (left >= 0) {
      context.fillText(text, left, height / 2);
    }
  }
}

/** Draws one lane: what it admitted above the line, what it denied below. */
export function drawLane(canvas, lane, { arrivals, limits, span, top, deepest, paint, windowed, point }) {
  const { context, width, height } = surface(canvas);
  const base = Math.round(height * (1 - DENIED_PART)) + 0.5;
  const y = (count) => base - (count / top) * (base - 8);
  const shown = arrivals.filter(({ at }) => at >= span.start - limits.periodMillis && at <= span.end);

  if (windowed) {
    drawWindows(context, windows(arrivals, lane, limits.periodMillis), span, height, paint);
  }
  drawGrid(context, span, height, paint);
  drawSum(context, rollingCount(shown, lane, limits.periodMillis), span, y, limits.permits, paint);
  drawBars(context, columns(shown, lane, (COLUMN_PIXELS * span.millis) / width), span, { base, height, y, deepest }, paint);

  context.strokeStyle = paint.soft;
  line(context, 0, base, width, base);
  context.strokeStyle = paint.ink;
  context.setLineDash([5, 4]);
  const limit = Math.round(y(limits.permits)) + 0.5;
  line(context, 0, limit, width, limit);
  context.setLineDash([]);
  label(context, String(limits.permits), 4, limit - 8, paint);

  if (point) {
    const x = span.x(point.at);
    context.strokeStyle = paint.ink;
    line(context, x, 0, x, height);
  }
}

function drawWindows(context, found, span, height, paint) {
  found.forEach(({ start, end }) => {
    context.fillStyle = paint.band;
    context.fillRect(span.x(start), 0, span.x(end) - span.x(start), height);
    context.strokeStyle = paint.soft;
    context.setLineDash([1, 3]);
    line(context, span.x(start), 0, span.x(start), height);
    line(context, span.x(end), 0, span.x(end), height);
    context.setLineDash([]);
  });
}

function drawGrid(context, span, height, paint) {
  context.strokeStyle = paint.grid;
  context.lineWidth = 1;
  const step = gridSeconds(span) * 1000;
  for (let at = span.end; at >= span.start; at -= step) {
    const x = Math.round(span.x(at)) - 0.5;
    line(context, x, 0, x, height);
  }
}

function drawSum(context, steps, span, y, permits, paint) {
  let count = 0;
  let from = span.start;
  const until = (to) => {
    const end = Math.min(to, span.end);
    if (count > 0 && end > from) {
      fill(context, span.x(from), y(Math.min(count, permits)), span.x(end), y(0), paint.sum);
      if (count > permits) {
        fill(context, span.x(from), y(count), span.x(end), y(permits), paint.over);
      }
    }
    from = Math.max(from, end);
  };
  for (const step of steps) {
    until(Math.max(step.at, span.start));
    count = step.count;
  }
  until(span.end);
}

function drawBars(context, found, span, { base, height, y, deepest }, paint) {
  const deep = height - base - 4;
  for (const { at, admitted, denied } of found) {
    const x = span.x(at) + 1;
    if (admitted > 0) {
      const tall = Math.max(6, base - y(admitted));
      context.fillStyle = paint.admitted;
      context.beginPath();
      context.roundRect(x, base - tall, COLUMN_PIXELS - 2, tall, [2, 2, 0, 0]);
      context.fill();
    }
    if (denied > 0) {
      crosses(context, x, base + 2, Math.max(5, (denied / deepest) * deep), paint);
    }
  }
}

/** Denied calls are a column of crosses: a different shape than the bars, for people who can't distinguish the colors. */
function crosses(context, x, topY, tall, paint) {
  const size = COLUMN_PIXELS - 2;
  context.strokeStyle = paint.denied;
  context.lineWidth = 1.6;
  context.beginPath();
  for (let top = topY; top + size <= topY + Math.max(tall, size) + 0.5; top += size + 1) {
    context.moveTo(x, top);
    context.lineTo(x + size, top + size);
    context.moveTo(x + size, top);
    context.lineTo(x, top + size);
  }
  context.stroke();
  context.lineWidth = 1;
}

function label(context, text, x, y, paint) {
  context.font = '600 12px system-ui, sans-serif';
  context.textAlign = 'left';
  context.textBaseline = 'middle';
  context.lineWidth = 4;
  context.strokeStyle = paint.card;
  context.strokeText(text, x, y);
  context.lineWidth = 1;
  context.fillStyle = paint.ink;
  context.fillText(text, x, y);
}

function fill(context, left, top, right, bottom, color) {
  // On whole pixels, or neighbors would show a seam.
  const [x, to] = [Math.round(left), Math.round(right)];
  context.fillStyle = color;
  context.fillRect(x, top, to - x, bottom - top);
}

function line(context, x1, y1, x2, y2) {
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x2, y2);
  context.stroke();
}
