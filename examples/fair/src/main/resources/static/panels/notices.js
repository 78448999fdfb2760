export default {
  id: 'notices',
  title: 'Notices',
  article: '003',
  lead: 'Notices to you are delivered before those to everybody: pushed to active voters, pulled by the others when they come back.',
  config: `// the queue: personal first, then by age
batch.getMap("fair:{notices}:notice:" + id).putAllAsync(notice);   // one transaction
batch.getScoredSortedSet("fair:{notices}:queue").addAsync(kind.ordinal() * 1e12 + id, id);
// push: many inboxes in one pipeline
batch.getScript().evalAsync(... "ZADD inbox score id, EXPIRE inbox" ...);
// pull: what is there stays
inbox.addAllIfAbsent(latest);
// logins: who waits keeps its place; taken for a lease, then removed
ZADD fair:{notices}:logins NX now voter
// read: SORT inbox BY nosort GET # GET notice:*->title ...
list.readSort("nosort", patterns, SortOrder.ASC, 0, count);`,
  async mount(element, kit) {
    let published = 0;
    const list = document.createElement('div');
    const show = (view) => {
      list.replaceChildren(
        kit.numbers({ 'notices wait': view.queued, 'voters log in': view.logins, 'voters active': view.active.length, 'you are': view.active.includes(kit.visitor) ? 'active' : 'away' }),
        view.inbox.length
          ? kit.table(view.inbox, { id: 'number', kind: 'for', title: 'title', text: '' })
          : Object.assign(document.createElement('p'), { className: 'caption', textContent: 'Your inbox is empty.' }));
    };
    const look = async () => show(await kit.get(`/api/notices?voter=${encodeURIComponent(kit.visitor)}`));
    const publish = (kind) => async () => {
      published += 1;
      const title = kind === 'global' ? `Notice ${published} to all` : `Notice ${published} to you`;
      await kit.post(`/api/notices/${kind}`, { voter: kit.visitor, title });
      await look();
      kit.say(`"${title}" waits in the queue.`);
    };
    element.append(
      kit.row(
        kit.button('Come in', async () => {
          const { pulled } = await kit.post('/api/notices/arrive', { voter: kit.visitor });
          await look();
          kit.say(`You are active for 5 minutes. You pulled ${pulled} ${pulled === 1 ? 'notice' : 'notices'} that you had missed.`);
        }),
        kit.button('Notice to all', publish('global')),
        kit.button('Notice to me', publish('personal')),
        kit.button('Deliver the next', async () => {
          const delivery = await kit.post('/api/notices/deliver');
          await look();
          kit.say(delivery ? `"${delivery.notice.title}" was pushed into ${delivery.pushed} ${delivery.pushed === 1 ? 'inbox' : 'inboxes'}.` : 'The queue is empty.');
        })),
      kit.row(
        kit.button('300 voters log in twice', async () => {
          const { waiting } = await kit.post('/api/notices/logins/rush');
          await look();
          kit.say(`600 logins, and ${waiting} wait: each voter once. Nothing is slower for the others.`);
        }),
        kit.button('A worker lets 100 in', async () => {
          const { voters, pulled, waiting } = await kit.post('/api/notices/logins/next');
          await look();
          kit.say(`${voters} voters are in and pulled ${pulled} notices; ${waiting} wait.`);
        }),
        kit.breaks('A worker takes 100 and dies', async () => {
          const { voters, waiting } = await kit.post('/api/notices/logins/die');
          await look();
          kit.say(`The worker died with ${voters} voters. They still wait, ${waiting} in all: after 3 s the next worker has them first.`);
        })),
      kit.row(
        kit.breaks('40 voters arrive during 20 deliveries', async () => {
          const { voters, notices, wrong } = await kit.post('/api/notices/rush');
          await look();
          kit.say(`${notices} notices were pushed while ${voters} voters arrived and pulled. ${wrong === 0 ? 'Each voter has each notice once.' : `${wrong} voters miss one.`}`);
        }),
        kit.breaks('Fan out with and without pipelining', async () => {
          const { pipelined, pipelinedMillis, oneByOne, oneByOneMillis } = await kit.post('/api/notices/fan-out');
          const factor = (oneByOneMillis / oneByOne) / (Math.max(1, pipelinedMillis) / pipelined);
          kit.say(`${pipelined} inboxes in ${pipelinedMillis} ms with pipelining, ${oneByOne} in ${oneByOneMillis} ms one by one: ${factor.toFixed(0)} times as long for each.`);
        })),
      list);
    await look();
    kit.every(3000, look);
  },
};
