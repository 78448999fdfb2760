const STATES = {
  printed: 'printed', waiting: 'waiting', inWork: 'in work, as far as the queue knows', parked: 'parked', unknown: 'in work or lost: the queue does not know',
};

export default {
  id: 'orders',
  title: 'Orders',
  article: '004 section 5',
  lead: 'Every paid order goes into two queues: a plain list and a stream. Kill the worker while it prints: the list loses an order, the stream does not.',
  config: `ReliableQueue queue = new ReliableQueue(redisson, "fair:{orders}:stream",
    Duration.ofSeconds(3),   // then a message goes to another worker
    3);                      // after this number of deliveries it is parked
for (Message order : queue.take("worker-1", 1)) {
  print(order);                        // the worker may die here
  queue.finish(order, id, quantity);   // acknowledges and takes effect, once
}`,
  async mount(element, kit) {
    const view = document.createElement('div');
    view.style.display = 'contents';
    const part = (text, content) => {
      const title = document.createElement('h2');
      title.textContent = text;
      return [title, content];
    };
    const show = async () => {
      const now = await kit.get('/api/orders');
      const state = document.createElement('p');
      state.textContent = `${now.placed} tickets ordered. ${now.workers.length ? `Workers: process ${now.workers.join(', ')}.` : 'No worker runs: start one.'}`;
      const [list, stream] = now.queues;
      const queues = kit.table(
        Object.entries(STATES).map(([state, text]) => ({ text, list: list[state], stream: stream[state] })),
        { text: 'tickets', list: 'list', stream: 'stream' });
      const last = queues.querySelector('tbody tr:last-child');
      for (const cell of [...last.cells].slice(1)) {
        if (cell.textContent !== '0') {
          cell.style.color = 'var(--denied)';
          cell.style.fontWeight = 'bold';
        }
      }
      view.replaceChildren(
        state,
        queues,
        ...(now.pending.length ? part('In work', kit.table(
          now.pending.map(({ order, worker, deliveries, idleMillis }) => ({ order, worker, deliveries, idle: `${(idleMillis / 1000).toFixed(1)} s` })),
          { order: 'message', worker: 'worker', deliveries: 'delivery', idle: 'since' })) : []),
        ...(now.parked.length ? part('Parked: no worker could print these', kit.table(
          now.parked.map((order) => ({ order })), { order: 'order' })) : []));
    };
    const does = (path) => async () => {
      const { text } = await kit.post(`/api/orders/${path}`);
      kit.say(text);
      await show();
    };
    element.append(
      kit.row(
        kit.button('Start a worker', does('worker')),
        kit.button('Place 10 orders', does('place')),
        kit.breaks('Kill the worker', does('kill')),
        kit.breaks('Place an order that no worker can print', does('poison')),
        kit.button('Empty both queues', does('clear'), 'quiet')),
      view);
    kit.every(700, show);
    await show();
  },
};
