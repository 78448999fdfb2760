// The keys that are denied most, each with a way to look at it.

import { showKey } from './keys.js';
import { count, duration, element, find, row, withoutPackages } from './page.js';

const rows = new Map();

/** Rows stay where they are as long as they can, so that none is taken away under a finger. */
export function showDenied({ keys }) {
  const table = find('denied');
  const body = table.tBodies[0];
  table.hidden = keys.length === 0;
  const none = find('denied-none');
  none.hidden = keys.length > 0;
  none.textContent = 'No call has been denied.';
  const present = new Set(keys.map(idOf));
  [...rows].filter(([id]) => !present.has(id)).forEach(([id, gone]) => {
    gone.remove();
    rows.delete(id);
  });
  keys.forEach((one, i) => {
    const made = rowOf(table, one);
    if (body.rows[i] !== made) {
      body.insertBefore(made, body.rows[i] || null);
    }
  });
}

const idOf = ({ policy, key, shadow }) => `${policy} ${key}${shadow ? ' shadow' : ''}`;

function rowOf(table, one) {
  const id = idOf(one);
  const now = row(table, cells(one));
  const before = rows.get(id);
  if (before) {
    [...now.cells].slice(0, -1).forEach((cell, i) => before.cells[i].replaceWith(cell));
    return before;
  }
  now.dataset.key = id;
  rows.set(id, now);
  return now;
}

function cells(one) {
  const look = element('button', { type: 'button', class: 'button second', 'aria-label': `Look at ${one.parts.join(' ')}` }, 'Look');
  look.addEventListener('click', () => showKey(one.policy, one.key));
  return [
    [element('strong', {}, one.parts.join(' : ')), one.shadow ? element('span', { class: 'quiet-line' }, 'shadow: not denied') : null],
    [one.policy, one.limit ? element('span', { class: 'quiet-line' }, one.limit) : null],
    one.rules.map(withoutPackages).join(', '),
    count(one.denied),
    `${duration(one.sinceLast)} ago`,
    one.retryAfter === 'PT0S' ? 'over' : duration(one.retryAfter),
    look,
  ];
}
