// The keys that are denied most, each with a way to look at it.

import { showKey } from './keys.js';
import { count, duration, element, find, row } from './page.js';

export function showDenied({ keys }) {
  const table = find('denied');
  const focused = document.activeElement.closest('#denied tr')?.dataset.key;
  table.hidden = keys.length === 0;
  find('denied-none').hidden = keys.length > 0;
  table.tBodies[0].replaceChildren(...keys.map((one) => {
    const look = element('button', { type: 'button', class: 'button second', 'aria-label': `Look at ${one.parts.join(' ')}` }, 'Look');
    look.addEventListener('click', () => showKey(one.policy, one.key));
    const made = row(table, [
      [element('strong', {}, one.parts.join(' : ')), one.shadow ? element('span', { class: 'quiet-line' }, 'shadow: not denied') : null],
      [one.policy, one.limit ? element('span', { class: 'quiet-line' }, one.limit) : null],
      one.rules.join(', '),
      (one.excess > 0 ? 'up to ' : '') + count(one.denied),
      `${duration(one.sinceLast)} ago`,
      one.retryAfter === 'PT0S' ? 'over' : duration(one.retryAfter),
      look,
    ]);
    made.dataset.key = `${one.policy} ${one.key}`;
    return made;
  }));
  if (focused) {
    [...table.tBodies[0].rows].find((one) => one.dataset.key === focused)?.querySelector('button').focus();
  }
}
