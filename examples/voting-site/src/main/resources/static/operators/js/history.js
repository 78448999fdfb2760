// What each policy decided in the last minutes: differences of its counters from one look to the next.

export const SAMPLES = 90;

const SVG = 'http://www.w3.org/2000/svg';
const HEIGHT = 40;

export class History {
  #last = null;
  #samples = [];

  /** Adds the counters as they are now. Counters that have fallen are those of an instance that was started again. */
  add({ allowed, denied }) {
    const before = this.#last && this.#last.allowed <= allowed && this.#last.denied <= denied ? this.#last : null;
    this.#last = { allowed, denied };
    if (before) {
      this.#samples.push({ allowed: allowed - before.allowed, denied: denied - before.denied });
      this.#samples.splice(0, this.#samples.length - SAMPLES);
    }
  }

  get most() {
    return Math.max(1, ...this.#samples.map(({ allowed, denied }) => allowed + denied));
  }

  get sum() {
    return this.#samples.reduce(
      (sum, { allowed, denied }) => ({ allowed: sum.allowed + allowed, denied: sum.denied + denied }),
      { allowed: 0, denied: 0 });
  }

  /** Draws allowed calls from below, and denied ones on top of them. */
  draw(svg, name) {
    const { most, sum } = this;
    svg.setAttribute('viewBox', `0 0 ${SAMPLES * 4} ${HEIGHT}`);
    svg.setAttribute('aria-label', `${name}: ${sum.allowed} allowed and ${sum.denied} denied in the last three minutes`);
    svg.replaceChildren(...this.#samples.flatMap(({ allowed, denied }, i) => {
      const x = (SAMPLES - this.#samples.length + i) * 4;
      return [bar(x, 0, allowed / most, 'allowed'), bar(x, allowed / most, denied / most, 'refused')];
    }).filter((one) => one !== null));
  }
}

function bar(x, from, share, kind) {
  if (share === 0) {
    return null;
  }
  const rect = document.createElementNS(SVG, 'rect');
  const height = Math.max(1, share * (HEIGHT - 2));
  Object.entries({ x, y: HEIGHT - from * (HEIGHT - 2) - height, width: 3, height, class: kind })
    .forEach(([key, value]) => rect.setAttribute(key, value));
  return rect;
}
