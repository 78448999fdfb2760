// Parts of the page. All answers of the server become text and never markup: keys, paths and headers are written by
// clients.

export const find = (id) => document.getElementById(id);

/** An element with attributes and children; a child that is no element is text. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
  made.append(...children.filter((child) => child !== null));
  return made;
}

/** A row of a table whose cells know their columns, for where a table is a list of cards. */
export function row(table, cells) {
  const columns = [...table.querySelectorAll('th')];
  const made = document.createElement('tr');
  cells.forEach((content, i) => {
    const parts = [].concat(content).filter((part) => part !== null && part !== '');
    const kinds = [columns[i].className, parts.length === 0 ? 'blank' : ''].join(' ').trim();
    made.append(element('td', { class: kinds, 'data-label': columns[i].textContent }, element('div', {}, ...parts)));
  });
  return made;
}

/** A list of names and values with a title. */
export function facts(title, pairs, kind = 'plain') {
  const list = element('dl', { class: 'facts', 'data-kind': kind }, element('dt', { class: 'title' }, title));
  pairs.filter(([, value]) => value !== null && value !== '').forEach(([name, value]) =>
    list.append(element('dt', {}, name), element('dd', {}, value)));
  return list;
}

export function verdict(kind, title, ...lines) {
  const shown = lines.filter((line) => line).map((line) => element('p', {}, line));
  return element('div', { class: 'verdict', 'data-kind': kind }, element('strong', {}, title), ...shown);
}

function wrong(failure) {
  const title = failure.status === 401 || failure.status === 403 ? 'The server refuses this: reload the page and log in.' : 'This can’t be done.';
  return verdict('wrong', title, failure.message);
}

/** Shows answers in an element: the last that was asked for, also when an earlier one comes later. */
export function answersIn(id) {
  let asked = 0;
  return async (ask) => {
    asked += 1;
    const mine = asked;
    const shown = await ask().catch((failure) => [wrong(failure)]);
    if (mine === asked) {
      find(id).replaceChildren(...shown);
    }
  };
}

const PARTS = /^PT(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?$/;

/** PT1H2M3.4567S as people say it. */
export function duration(text) {
  const found = PARTS.exec(text);
  if (!found) {
    return text;
  }
  const [hours, minutes, seconds] = found.slice(1).map((part) => Number(part || 0));
  if (hours > 0) {
    return `${hours} h ${minutes} min`;
  }
  if (minutes > 0) {
    return `${minutes} min ${Math.round(seconds)} s`;
  }
  return `${seconds < 10 ? Math.ceil(seconds * 10) / 10 : Math.ceil(seconds)} s`;
}

/** A method or class without its packages. */
export const withoutPackages = (name) => name.replace(/\b(?:[a-z]\w*\.)+(?=[A-Z])/g, '');

export const count = (number) => new Intl.NumberFormat('en').format(number);
