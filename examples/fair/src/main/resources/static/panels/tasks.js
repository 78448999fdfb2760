const seconds = (millis) => `${(millis / 1000).toFixed(1)} s`;
const STATES = { reserved: 'reserved, not paid', paid: 'paid', expired: 'expired, seat returned' };

function evening(steps) {
  const past = steps.filter(({ effects }) => effects > 0).map(({ name }) => name);
  const state = past.includes('close') ? 'closed' : past.includes('open') ? 'open' : 'not open yet';
  const reminder = past.includes('remind') ? ', voters were reminded' : '';
  return `The poll is ${state}${reminder}.`;
}

function bar({ effects, leased, due }) {
  const all = document.createElement('div');
  all.className = 'bar';
  for (const [kind, width] of [['sold', effects], ['held', leased], ['', due]]) {
    const part = document.createElement('div');
    part.className = kind;
    part.style.flexGrow = width;
    all.append(part);
  }
  return all;
}

function heading(text) {
  const element = document.createElement('h2');
  element.textContent = text;
  return element;
}

export default {
  id: 'tasks',
  title: 'Delayed tasks',
  article: '001 case 3, 004 section 8',
  lead: 'The poll opens, reminds and closes by itself, and unpaid seats come back. Kill the worker in the middle: each task still takes effect once.',
  config: `DelayedTasks tasks = new DelayedTasks(redisson, Duration.ofSeconds(4));
tasks.schedule(Map.of("close", "{}"), Duration.ofSeconds(8));

List<Task> batch = tasks.claim(100);   // for a lease of 4 s
batch.forEach(work);                   // the worker may die here
tasks.complete(batch);                 // one script: removed, and in effect`,
  async mount(element, kit) {
    const view = document.createElement('div');
    view.style.display = 'contents';
    let reserved = null;
    const show = async () => {
      const now = await kit.get('/api/tasks');
      const state = document.createElement('p');
      state.textContent = `${evening(now.evening)} ${now.workers.length ? `Workers: process ${now.workers.join(', ')}.` : 'No worker runs: start one.'}`;
      view.replaceChildren(
        state,
        kit.numbers({
          'wait': now.due,
          'leased by a worker': now.leased,
          'claims': now.claims,
          'effects': now.effects,
          'with more than one effect': now.notOnce,
        }),
        bar(now),
        heading('Next tasks'),
        kit.table(
          now.tasks.map(({ id, state: is, millis }) => ({ id, is: is === 'leased' ? 'leased' : 'waits', left: millis > 0 ? seconds(millis) : 'due' })),
          { id: 'task', is: 'state', left: 'for' }),
        heading('Reserved seats'),
        kit.table(
          Object.entries(now.reservations).sort().slice(-6).map(([id, is]) => ({ id, is: STATES[is] || is })),
          { id: 'seat', is: `state (${now.seatsReturned} returned)` }));
    };
    const does = (path, body) => async () => {
      const { text } = await kit.post(`/api/tasks/${path}`, body);
      kit.say(text);
      await show();
    };
    element.append(
      kit.row(
        kit.button('Start a worker', does('worker')),
        kit.button('Begin the evening', does('evening')),
        kit.button('2000 tasks due now', does('many', { count: 2000 })),
        kit.breaks('Kill the worker', does('kill'))),
      kit.row(
        kit.button('Reserve a seat', async () => {
          const { text } = await kit.post('/api/tasks/reserve');
          reserved = text.split(' ')[0];
          kit.say(text);
          await show();
        }),
        kit.button('Pay for it', async () => {
          if (!reserved) { kit.say('Reserve a seat first.'); return; }
          await does('pay', { id: reserved })();
        }),
        kit.button('Delete all tasks', does('clear'), 'quiet')),
      view);
    kit.every(700, show);
    await show();
  },
};
