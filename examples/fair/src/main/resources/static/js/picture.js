// What Redis holds of a system, and the commands just sent.

const UNIT = { string: 'byte', list: 'value', hash: 'field', set: 'member', zset: 'member', stream: 'message' };

/** Returns a function that draws a picture, or why there is none; what was not in the one before is marked. */
export function drawPicture(part) {
  const [keys, commands, count] = ['.keys', '.commands', '.count'].map(part);
  let before = null;
  let sent = [];
  return (picture, problem) => {
    if (!picture) {
      keys.replaceChildren(nothing(problem));
      commands.replaceChildren(nothing('Not known.'));
      count.textContent = problem.replace(/\..*/s, '');
      before = null;
      return;
    }
    keys.replaceChildren(...picture.keys.map((key) => entry(key, before)));
    if (picture.keys.length === 0) { keys.append(nothing('No keys yet.')); }
    commands.replaceChildren(...picture.commands.map((text, index) => line(text, index < fresh(picture.commands, sent))));
    if (picture.commands.length === 0) { commands.append(nothing('None since you look.')); }
    const total = picture.keys.length;
    const newest = picture.commands[0] ? picture.commands[0].match(/^(lua: )?(\S+)/)[0] : '';
    count.textContent = `${total === 1 ? '1 key' : `${total} keys`}${newest ? `, last ${newest}` : ''}`;
    // Only within the list: the page stays where it is.
    const changed = keys.querySelector('.fresh');
    if (changed) { keys.scrollTop = changed.offsetTop - keys.offsetTop; }
    before = new Map(picture.keys.map(({ name, size }) => [name, size]));
    sent = picture.commands;
  };
}

/** How many of the newest commands are new: the old list, or its beginning, follows them. */
function fresh(now, old) {
  for (let count = 0; count < now.length; count += 1) {
    if (old.length > 0 && now.slice(count).every((text, index) => text === old[index])) { return count; }
  }
  return old.length === 0 ? 0 : now.length;
}

function entry({ name, type, size, ttlSeconds }, before) {
  const item = document.createElement('li');
  const meta = document.createElement('span');
  meta.textContent = `${type}, ${size} ${size === 1 ? UNIT[type] : `${UNIT[type]}s`}${ttlSeconds < 0 ? '' : `, ends in ${duration(ttlSeconds)}`}`;
  item.append(name, meta);
  item.classList.toggle('fresh', before !== null && before.get(name) !== size);
  return item;
}

function duration(seconds) {
  for (const [unit, length] of [['d', 86400], ['h', 3600], ['min', 60]]) {
    if (seconds >= 2 * length) { return `${Math.floor(seconds / length)} ${unit}`; }
  }
  return `${seconds} s`;
}

function line(text, isFresh) {
  const item = document.createElement('li');
  const [, mark, name, rest] = text.match(/^(lua: )?(\S+)([^]*)$/);
  const bold = document.createElement('b');
  bold.textContent = name;
  item.append(mark || '', bold, rest);
  item.classList.toggle('fresh', isFresh);
  return item;
}

function nothing(text) {
  const element = document.createElement('li');
  element.className = 'nothing';
  element.textContent = text;
  return element;
}
