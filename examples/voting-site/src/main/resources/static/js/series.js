// From decisions to what a lane draws. Nothing is decided here: only sums of the server's decisions.

/** A call is noted when it is asked, and decided a moment later: on Redis some milliseconds, never the same. */
const MOMENT_MILLIS = 20;

/** How many were admitted in the period that ends at each moment: steps of { at, count }, for arrivals in order of time. */
export function rollingCount(arrivals, lane, fullPeriodMillis) {
  const periodMillis = fullPeriodMillis - MOMENT_MILLIS;
  const admitted = arrivals.filter(({ verdicts }) => verdicts[lane].allowed).map(({ at }) => at);
  const steps = [];
  let first = 0;
  for (let i = 0; i < admitted.length; i++) {
    while (admitted[first] + periodMillis <= admitted[i]) {
      steps.push({ at: admitted[first] + periodMillis, count: i - first - 1 });
      first += 1;
    }
    steps.push({ at: admitted[i], count: i - first + 1 });
  }
  for (; first < admitted.length; first++) {
    steps.push({ at: admitted[first] + periodMillis, count: admitted.length - first - 1 });
  }
  return steps;
}

/** Counts of a lane in columns that stay at their time, so that bars do not flicker when the axis moves. */
export function columns(arrivals, lane, columnMillis) {
  const found = new Map();
  for (const { at, verdicts } of arrivals) {
    const index = Math.floor(at / columnMillis);
    const column = found.get(index) || { at: index * columnMillis, admitted: 0, denied: 0 };
    column[verdicts[lane].allowed ? 'admitted' : 'denied'] += 1;
    found.set(index, column);
  }
  return [...found.values()];
}

/** The windows of the fixed lane: each decision contains the end of its window. */
export function windows(arrivals, lane, periodMillis) {
  const found = [];
  for (const { at, verdicts } of arrivals) {
    const { allowed, reset } = verdicts[lane];
    const end = at + reset;
    const last = found[found.length - 1];
    if (allowed && (!last || end > last.end + 20)) {
      found.push({ start: end - periodMillis, end });
    }
  }
  return found;
}
