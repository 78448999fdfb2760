const percent = (estimate, exact) => (exact === 0 ? '' : `${(100 * (estimate - exact) / exact).toFixed(2)}\u00a0%`);
const kilobytes = (bytes) => `${(bytes / 1024).toFixed(1)} kB`;

export default {
  id: 'visitors',
  title: 'Visitors',
  article: '004 section 9',
  lead: 'Views are counted exactly, different visitors by a HyperLogLog, whose 12 kB never grow. An exact set beside it shows the error.',
  config: `// with their expiry, as one transaction
batch.getAtomicLong("fair:visitors:{results}:pv:" + day)
    .incrementAndGetAsync();
batch.getHyperLogLog("fair:visitors:{results}:uv:" + day)
    .addAsync(visitor);

// a week; no merged key is written
monday.countWith(tuesday, wednesday, thursday, ...);`,
  async mount(element, kit) {
    const list = document.createElement('div');
    const page = document.createElement('select');
    ['results', 'candidates', 'places'].forEach((name) => page.append(new Option(name)));
    const label = document.createElement('label');
    label.className = 'field';
    label.append('page', page);
    const show = (pages) => {
      list.replaceChildren(kit.table(pages.map(({ page: name, today, week, exactThisWeek, exactBytes, estimateBytes }) => ({
        name,
        viewsToday: today.views,
        views: week.views,
        visitors: week.visitors,
        exact: exactThisWeek,
        error: percent(week.visitors, exactThisWeek),
        memory: exactThisWeek ? `${kilobytes(estimateBytes)}, set ${kilobytes(exactBytes)}` : '',
      })), {
        name: 'page', viewsToday: 'views today', views: 'views this week', visitors: 'visitors', exact: 'exactly', error: 'error', memory: 'memory',
      }));
      return pages.find(({ page: name }) => name === page.value);
    };
    const visit = () => ({ visitor: kit.visitor, page: page.value });
    element.append(
      kit.row(
        label,
        kit.button('Visit', async () => {
          const { today } = show(await kit.post('/api/visitors/visit', visit()));
          kit.say(`${today.views} views by ${today.visitors} different visitors today.`);
        }),
        kit.button('Come on every day of this week', async () => {
          const { week } = show(await kit.post('/api/visitors/every-day', visit()));
          kit.say(`Seven more views, and you are one visitor: ${week.visitors} this week.`);
        }, 'quiet')),
      kit.row(
        kit.breaks('Reload 20 times at once', async () => {
          const before = show(await kit.get('/api/visitors'));
          await Promise.all(Array.from({ length: 20 }, () => kit.post('/api/visitors/visit', visit())));
          const after = show(await kit.get('/api/visitors'));
          kit.say(`${after.today.views - before.today.views} more views, ${after.today.visitors - before.today.visitors || 'no'} more visitors.`);
        }),
        kit.breaks('Rush: 10,000 visitors', async () => {
          const { week, exactThisWeek } = show(await kit.post('/api/visitors/rush', visit()));
          kit.say(`${exactThisWeek} different visitors, estimated as ${week.visitors}: ${percent(week.visitors, exactThisWeek)} off.`);
        })),
      list);
    const look = async () => show(await kit.get('/api/visitors'));
    await look();
    kit.every(4000, look);
  },
};
