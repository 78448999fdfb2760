const SVG = 'http://www.w3.org/2000/svg';
const REACH = 6;
const REGIONS = { home: 'At home, 54° N', dateline: 'On the date line, 180°', north: 'Far north, 85.01° N' };

function draw(name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) { element.setAttribute(key, value); }
  if (text) { element.textContent = text; }
  return element;
}

export default {
  id: 'places',
  title: 'Polling places',
  article: '004 section 10',
  lead: 'Click on the map, or use the arrow keys, to see the three nearest polling places. Then move the town to where maps end.',
  config: `RGeo<String> places = redisson.getGeo("fair:places:home");

places.searchWithDistance(GeoSearchArgs.from(longitude, latitude)
    .radius(EVERYWHERE, GeoUnit.METERS).count(3).order(GeoOrder.ASC));
places.dist(from, to, GeoUnit.METERS);   // of two members
// then all that are as near as the third one, sorted by distance and name`,
  async mount(element, kit) {
    let region = 'home';
    let east = 0.6;
    let north = -0.5;
    const map = draw('svg', { viewBox: `${-REACH} ${-REACH} ${2 * REACH} ${2 * REACH}`, class: 'map', role: 'application', tabindex: 0, 'aria-label': 'Map of the town. Arrow keys move you.' });
    const list = document.createElement('div');
    const choice = (label) => {
      const field = document.createElement('label');
      field.className = 'field';
      field.select = document.createElement('select');
      field.append(label, field.select);
      return field;
    };
    const from = choice('from');
    const to = choice('to');
    const show = ({ spots, longitude, latitude, nearest }) => {
      map.replaceChildren(
        draw('path', { class: 'river', d: 'M-6,1.4 C-3,0.2 -2.4,3.2 0.4,1.6 S3.4,-2.4 6,-1.2' }),
        ...[-4, -2, 0, 2, 4].flatMap((at) => [
          draw('line', { class: 'street', x1: at, x2: at, y1: -REACH, y2: REACH }),
          draw('line', { class: 'street', y1: at, y2: at, x1: -REACH, x2: REACH })]));
      if (region === 'dateline') { map.append(draw('line', { class: 'edge', x1: 0, x2: 0, y1: -REACH, y2: REACH })); }
      if (region === 'north') { map.append(draw('rect', { class: 'beyond', x: -REACH, y: -REACH, width: 2 * REACH, height: REACH - 4.57 })); }
      const near = nearest.map(({ name }) => name);
      if (from.select.options.length === 0) {
        spots.forEach(({ name }) => [from, to].forEach(({ select }) => select.append(new Option(name))));
        to.select.selectedIndex = 1;
      }
      for (const spot of spots) {
        if (near.includes(spot.name)) { map.append(draw('line', { class: 'way', x1: east, y1: -north, x2: spot.east, y2: -spot.north })); }
      }
      for (const spot of spots) {
        map.append(draw('circle', { class: near.includes(spot.name) ? 'spot near' : 'spot', cx: spot.east, cy: -spot.north, r: 0.17 }));
        if (!spot.name.endsWith('room B')) {
          const left = spot.east > 3;
          map.append(draw('text', { x: spot.east + (left ? -0.3 : 0.3), y: 0.12 - spot.north, 'text-anchor': left ? 'end' : 'start' }, spot.name.replace(', room A', '')));
        }
      }
      map.append(draw('circle', { class: 'me', cx: east, cy: -north, r: 0.24 }));
      list.replaceChildren(
        Object.assign(document.createElement('p'), { className: 'caption', textContent: `You are at ${longitude.toFixed(4)}, ${latitude.toFixed(4)}.` }),
        kit.table(nearest.map(({ name, metres }) => ({ name, metres: Math.round(metres) })), { name: 'nearest', metres: 'metres' }));
    };
    const look = async () => show(await kit.get(`/api/places?${new URLSearchParams({ region, east, north })}`));
    const go = async (toEast, toNorth) => {
      const before = [east, north];
      east = Math.max(-REACH, Math.min(REACH, toEast));
      north = Math.max(-REACH, Math.min(REACH, toNorth));
      try {
        await look();
        kit.say('');
      } catch (problem) {
        [east, north] = before;
        kit.say(problem.message, 'bad');
      }
      kit.refresh();
    };
    map.addEventListener('click', ({ clientX, clientY }) => {
      const box = map.getBoundingClientRect();
      go(((clientX - box.left) / box.width) * 2 * REACH - REACH, REACH - ((clientY - box.top) / box.height) * 2 * REACH);
    });
    map.addEventListener('keydown', (event) => {
      const step = { ArrowLeft: [-0.5, 0], ArrowRight: [0.5, 0], ArrowUp: [0, 0.5], ArrowDown: [0, -0.5] }[event.key];
      if (step) {
        event.preventDefault();
        go(east + step[0], north + step[1]);
      }
    });
    const move = (to, kind) => kit[kind](REGIONS[to], async () => {
      region = to;
      east = to === 'dateline' ? -0.4 : 0.6;
      north = -0.5;
      await look();
      kit.say({
        home: 'The town is where it was.',
        dateline: 'The date line goes through the town. Near is near on both sides of it.',
        north: 'Redis has no places beyond 85.05°: click into the grey part.',
      }[to]);
    });
    element.append(
      kit.row(move('home', 'button'), move('dateline', 'breaks'), move('north', 'breaks'),
        kit.breaks('Compare 200 random points', async () => {
          const { points, same } = await kit.post('/api/places/compare', { region, east, north });
          kit.say(`From ${same} of ${points} random points Redis finds the same distance as a calculation without it.`);
        })),
      kit.row(from, to,
        kit.button('How far?', async () => {
          const { metres } = await kit.get(`/api/places/distance?${new URLSearchParams({ region, from: from.select.value, to: to.select.value })}`);
          kit.say(`From ${from.select.value} to ${to.select.value}: ${Math.round(metres)} m.`);
        })),
      Object.assign(document.createElement('div'), { className: 'pair' }));
    element.lastElementChild.append(map, list);
    await look();
  },
};
