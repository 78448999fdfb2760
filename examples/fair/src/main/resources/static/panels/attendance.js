const ZONES = ['Europe/Berlin', 'America/New_York', 'Asia/Tokyo', 'Pacific/Auckland'];
const WEEKDAYS = ['Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa', 'Su'];

function calendar({ today, month, days }) {
  const [year, number] = month.split('-').map(Number);
  const first = (new Date(Date.UTC(year, number - 1, 1)).getUTCDay() + 6) % 7;
  const length = new Date(Date.UTC(year, number, 0)).getUTCDate();
  const grid = document.createElement('div');
  grid.className = 'calendar';
  grid.setAttribute('role', 'img');
  grid.setAttribute('aria-label', `${month}: here on ${days.length ? days.join(', ') : 'no day'}`);
  const cell = (text, kind) => grid.append(Object.assign(document.createElement('span'), { textContent: text, className: kind }));
  WEEKDAYS.forEach((name) => cell(name, 'weekday'));
  for (let i = 0; i < first; i += 1) { cell('', ''); }
  for (let day = 1; day <= length; day += 1) {
    const now = Number(today.slice(8)) === day ? ' now' : '';
    cell(day, `day${days.includes(day) ? ' here' : ''}${now}`);
  }
  return grid;
}

export default {
  id: 'attendance',
  title: 'Attendance',
  article: '004 section 4',
  lead: 'Sign in once a day. A year of yours is one bitmap of 46 bytes at most, so a streak goes on over the ends of months and years.',
  config: `// one bitmap a year; the clock has the zone
year = redisson.getBitSet("fair:attendance:" + member + ":2026");
year.set(LocalDate.now(clock).getDayOfYear() - 1);

BitSet days = year.asBitSet();
int streak = today - days.previousClearBit(today);`,
  async mount(element, kit) {
    let days = 0;
    const picture = document.createElement('div');
    picture.className = 'pair';
    const zone = kit.field('zone', '', {});
    const select = document.createElement('select');
    ZONES.forEach((name) => select.append(new Option(name.replace('_', ' '), name)));
    zone.replaceChildren('zone', select);
    const visit = (more = 0) => ({ member: kit.visitor, zone: select.value, days: days + more });
    const show = (view) => {
      days = view.daysFromNow;
      const side = document.createElement('div');
      side.append(kit.numbers({ 'days in a row': view.streak, [`days in ${view.month}`]: view.count }));
      const note = document.createElement('p');
      note.className = 'caption';
      note.textContent = `Today is ${view.today} in ${select.value.replace('_', ' ')}${days ? `, ${days} days from now` : ''}.`;
      side.append(note);
      picture.replaceChildren(calendar(view), side);
      return view;
    };
    const look = async () => show(await kit.get(`/api/attendance?${new URLSearchParams(visit())}`));
    select.addEventListener('change', () => look().catch((problem) => kit.say(problem.message, 'bad')));
    element.append(
      kit.row(
        kit.button('Sign in', async () => {
          const { first, today } = await kit.post('/api/attendance/sign-in', visit());
          const { streak } = await look();
          kit.say(first ? `Signed in on ${today}. Days in a row: ${streak}.` : `You have signed in on ${today} before. It counts once.`);
        }),
        kit.button('Next day', async () => { days += 1; await look(); }, 'quiet'),
        kit.button('Back to now', async () => { days = 0; await look(); }, 'quiet'),
        zone),
      kit.row(
        kit.breaks('20 clicks at once', async () => {
          const answers = await Promise.all(Array.from({ length: 20 }, () => kit.post('/api/attendance/sign-in', visit())));
          await look();
          kit.say(`20 sign-ins at once: ${answers.filter(({ first }) => first).length} was the first one. The day counts once.`);
        }),
        kit.breaks('Sign in daily until 2 January', async () => {
          const { streak } = show(await kit.post('/api/attendance/travel', visit()));
          kit.say(`Over the ends of the months and of the year: ${streak} days in a row, in two bitmaps.`);
        })),
      picture);
    await look();
  },
};
