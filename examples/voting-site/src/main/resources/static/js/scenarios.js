// Ready-made traffic, adapted to the present limits. Each explains in one sentence what to look at.

const MOST_CALLS = 400;

export function scenario(name, { permits, periodMillis, burst }) {
  const crowd = Math.min(permits, Math.floor(MOST_CALLS / 3));
  const quick = Math.min(400, periodMillis * 0.06);
  switch (name) {
    case 'one':
      return { steps: [step(0, 1, 0)], look: 'One call, put to all four. Point at its bar to see each verdict.' };
    case 'edge':
      return {
        fresh: true,
        steps: [step(0, 1, 0), ...some(periodMillis * 0.85, crowd - 1, quick), step(periodMillis * 1.01, crowd, quick)],
        look: 'A burst comes just before the fixed window ends, and another just after. Nearly twice the limit gets through there, but not through the sliding logs.',
      };
    case 'steady': {
      const periods = Math.max(1, Math.min(4, Math.floor(MOST_CALLS / (permits * 1.7))));
      const calls = Math.min(MOST_CALLS, Math.ceil(permits * 1.7 * periods));
      return {
        fresh: true,
        steps: [step(0, calls, periodMillis * periods)],
        look: 'A steady stream, 1.7 times the limit. Windows and logs admit a row of calls and then nothing for a while; the bucket, once empty, spreads its calls evenly.',
      };
    }
    case 'pulse': {
      const calls = Math.min(Math.ceil(Math.max(permits, burst) * 1.3), Math.floor(MOST_CALLS / 3));
      return {
        fresh: true,
        steps: [0, 0.55, 1.1].map((part) => step(periodMillis * part, calls, quick)),
        look: 'Three bursts, half a period apart. At the second the window and the logs are still full, but the bucket has already refilled by half.',
      };
    }
    default:
      throw new Error(`no scenario ${name}`);
  }
}

function step(at, calls, over) {
  return { atMillis: Math.round(at), calls, overMillis: Math.round(over) };
}

function some(at, calls, over) {
  return calls > 0 ? [step(at, calls, over)] : [];
}
