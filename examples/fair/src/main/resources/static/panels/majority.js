const rowsOf = (writes) => writes.map((line) => {
  const [, what, by, tokens, result] = /^(\S+) from (.+?), token (.*): (.*)$/.exec(line) || [null, line, '', '', ''];
  return { what, by, tokens, result };
});

export default {
  id: 'majority',
  title: 'Majority lock',
  article: '004 section 1.2',
  lead: 'A lock on most of three servers ("Redlock") outlives one of them. Kill servers, start them without data, and see who believes to hold the lock.',
  config: `MajorityLock lock = new MajorityLock(List.of(server0, server1, server2), "fair:{majority}:count");
Optional<Held> held = lock.tryLock(Duration.ofSeconds(20));   // two of three are a majority
// Refused, in the script that writes, if one of the tokens is outdated.
sheet.write(name, result, held.get().tokens());`,
  async mount(element, kit) {
    const view = document.createElement('div');
    view.style.display = 'contents';
    const seconds = (millis) => `${(millis / 1000).toFixed(1)} s`;
    const show = async () => {
      const now = await kit.get('/api/majority');
      if (now.servers.length === 0) {
        view.replaceChildren(Object.assign(document.createElement('p'), { className: 'caption', textContent: 'No lock server runs: start them. They are this instance’s own.' }));
        return;
      }
      const numbers = Object.fromEntries(now.trusts.map(({ name, millis }) => [
        `${name === 'you' ? 'you trust' : `${name} trusts`} the lock for`, millis > 0 ? seconds(millis) : 'not at all']));
      view.replaceChildren(
        kit.table(
          now.servers.map(({ name, up, holder, millis }) => ({ name, state: up ? 'runs' : 'down', holder: holder || (up ? 'nobody' : '?'), left: millis > 0 ? seconds(millis) : '' })),
          { name: 'server', state: 'state', holder: 'locked by', left: 'for' }),
        kit.numbers({ ...numbers, result: now.result || 'none' }),
        kit.table(rowsOf(now.writes), { what: 'write', by: 'by', tokens: 'tokens', result: 'result' }));
    };
    const does = (path, holder) => async () => {
      const { text, good } = await kit.post(`/api/majority/${path}`, { holder });
      kit.say(text, good ? 'good' : 'bad');
      await show();
    };
    element.append(
      kit.row(
        kit.button('Start the servers', does('start')),
        kit.breaks('Kill a server', does('stop'))),
      kit.row(
        kit.button('You lock', does('lock', 'you')),
        kit.button('You write', does('write', 'you')),
        kit.button('You unlock', does('unlock', 'you'), 'quiet')),
      kit.row(
        kit.button('The rival locks', does('lock', 'the rival')),
        kit.button('The rival writes', does('write', 'the rival')),
        kit.button('The rival unlocks', does('unlock', 'the rival'), 'quiet')),
      view);
    await show();
    kit.every(1000, show);
  },
};
