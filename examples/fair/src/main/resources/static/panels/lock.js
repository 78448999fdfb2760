function writesTable(kit, writes) {
  const table = kit.table(
    writes.map((line) => {
      const [, what, by, token, result] = /^(\S+) from (\S+), token redis=(\d+): (.*)$/.exec(line) || [null, line, '', '', ''];
      return { what, by, token, result };
    }),
    { what: 'write', token: 'token', by: 'process', result: 'result' });
  for (const row of table.querySelectorAll('tbody tr')) {
    if (row.cells[0].textContent === 'REFUSED') {
      row.style.color = 'var(--denied)';
      row.style.fontWeight = 'bold';
    }
  }
  return table;
}

export default {
  id: 'lock',
  title: 'Lock',
  article: '004 section 1',
  lead: 'Several processes want to count the result, and one at a time does. Freeze the holder for longer than its lock lasts: its late write is refused.',
  config: `RFencedLock lock = redisson.getFencedLock("fair:{lock}:count");
long token = lock.lockAndGetToken();   // renewed while this process runs
try {
  // Refused, in the script that writes, if a newer token has written.
  sheet.write(name, count(), Map.of("redis", token));
} finally {
  while (lock.isHeldByCurrentThread()) lock.unlock();
}`,
  async mount(element, kit) {
    const view = document.createElement('div');
    view.style.display = 'contents';
    const show = async () => {
      const now = await kit.get('/api/lock');
      const state = document.createElement('p');
      state.textContent = `${now.workers.length
        ? `Processes that want the lock: ${now.workers.join(', ')}.`
        : 'No counter runs.'} Result: ${now.result}.`;
      view.replaceChildren(
        state,
        kit.numbers({
          'process of the last accepted write': now.by || '–',
          'its token': now.token || '–',
          'the lock holds for': `${(now.lockedMillis / 1000).toFixed(1)} s`,
        }),
        writesTable(kit, now.writes));
    };
    const does = (path) => async () => {
      const { text } = await kit.post(`/api/lock/${path}`);
      kit.say(text);
      await show();
    };
    element.append(
      kit.row(
        kit.button('Start two counters', does('worker')),
        kit.breaks('Kill the holder', does('kill')),
        kit.breaks('Freeze the holder', does('freeze')),
        kit.button('Continue the frozen one', does('thaw'))),
      view);
    kit.every(700, show);
    await show();
  },
};
