const NAMES = {
  fixed: ['Fixed window', 'starts anew when its window ends; at the edge of two windows, twice the limit gets through'],
  'sliding-list': ['Sliding log, list', 'remembers each call for one period'],
  'sliding-zset': ['Sliding log, sorted set', 'the same, and a repeated call is charged once'],
  'token-bucket': ['Token bucket', 'refills steadily'],
};

const sleep = (millis) => new Promise((done) => { setTimeout(done, millis); });

function lane({ algorithm, permits }) {
  const element = document.createElement('section');
  element.className = 'lane';
  element.dataset.algorithm = algorithm;
  const name = document.createElement('b');
  const tally = document.createElement('span');
  const squares = document.createElement('div');
  const promise = document.createElement('span');
  name.textContent = NAMES[algorithm][0];
  tally.className = 'tally';
  squares.className = 'squares';
  promise.className = 'caption';
  for (let i = 0; i < permits; i += 1) {
    squares.append(Object.assign(document.createElement('div'), { className: 'square' }));
  }
  element.append(name, tally, squares, promise);
  return { element, tally, squares, promise, allowed: 0, denied: 0 };
}

export default {
  id: 'limits',
  title: 'Four limiters',
  article: '000 and 004 section 2',
  lead: 'The same calls go to four limiters with the same numbers. A square is a call that would be allowed now; watch which of them recover, and when.',
  config: `limiter:
  policies:
    limits-fixed.limits: 10/6s fixed
    limits-list.limits: 10/6s sliding-list
    limits-zset.limits: 10/6s sliding-zset
    limits-bucket.limits: 10/6s token-bucket burst 10

limiter.tryAcquire("limits-list", PartitionKey.of(visitor), 1).allowed()`,
  async mount(element, kit) {
    const lanes = new Map();
    const list = document.createElement('div');
    list.className = 'lanes';
    const show = (states) => {
      for (const state of states) {
        if (!lanes.has(state.algorithm)) {
          lanes.set(state.algorithm, lane(state));
          list.append(lanes.get(state.algorithm).element);
        }
        const part = lanes.get(state.algorithm);
        part.allowed += state.allowed;
        part.denied += state.denied;
        part.tally.textContent = `${part.allowed} allowed, ${part.denied} denied`;
        part.promise.textContent = `${state.remaining} of ${state.permits} left${state.nextMillis > 0 ? `, more in ${(state.nextMillis / 1000).toFixed(1)} s` : ''}; ${NAMES[state.algorithm][1]}`;
        [...part.squares.children].forEach((square, index) => square.classList.toggle('left', index < state.remaining));
      }
    };
    const calls = kit.field('calls', 60, { type: 'number', min: 1, max: 500 });
    const send = async (count) => {
      const states = await kit.post('/api/limits/rush', { visitor: kit.visitor, calls: count });
      show(states);
      return states;
    };
    const sum = (states) => states.map(({ algorithm, allowed }) => `${NAMES[algorithm][0]} ${allowed}`).join(', ');
    element.append(
      kit.row(
        kit.button('One call', async () => {
          const denied = (await send(1)).filter((state) => state.denied > 0).length;
          kit.say(denied === 0 ? 'All four allow it.' : `${denied} of four deny it.`);
        }),
        calls,
        kit.breaks('Rush', async () => {
          const count = Number(calls.input.value);
          kit.say(`${count} calls at once. Allowed: ${sum(await send(count))}.`);
        }),
        kit.breaks('At the window’s edge', async () => {
          kit.say('First a full pause, then one call that opens the fixed window ...');
          await sleep(6200);
          const seen = new Map();
          const count = (states) => states.forEach(({ algorithm, allowed }) => seen.set(algorithm, (seen.get(algorithm) || 0) + allowed));
          await send(1);
          kit.say('... nothing for 5 s ...');
          await sleep(5200);
          count(await send(9));
          await sleep(1000);
          count(await send(10));
          kit.say(`... and 19 calls around its end. Allowed within a second: ${[...seen].map(([algorithm, allowed]) => `${NAMES[algorithm][0]} ${allowed}`).join(', ')}.`);
        })),
      list);
    const look = async () => show(await kit.get(`/api/limits?visitor=${encodeURIComponent(kit.visitor)}`));
    await look();
    kit.every(500, look);
  },
};
