// A look at one key, and its whole quota again for it.

import { look, reset } from './actuator.js';
import { answersIn, count, duration, facts, find, verdict } from './page.js';

const answer = answersIn('key-answer');

export function startKeys() {
  find('key').addEventListener('submit', (event) => {
    event.preventDefault();
    show();
  });
  find('key-reset').addEventListener('click', ask);
  find('key-no').addEventListener('click', () => { find('key-sure').hidden = true; });
  find('key-yes').addEventListener('click', resetKey);
  ['key-policy', 'key-text'].forEach((id) => find(id).addEventListener('input', () => {
    find('key-sure').hidden = true;
  }));
}

/** Looks at a key that was chosen elsewhere on the page. */
export function showKey(policy, key) {
  find('key-policy').value = policy;
  find('key-text').value = key;
  find('key-sure').hidden = true;
  find('key-text').focus();
  show();
}

const chosen = () => [find('key-policy').value, find('key-text').value.trim()];

async function show() {
  await answer(async () => {
    const report = await look(...chosen());
    return [report, ...(report.previous ? [report.previous] : [])].flatMap(explained);
  });
}

function explained(report) {
  const waits = report.retryAfter === 'never' ? 'No call can be allowed.' : `The next call is allowed in ${duration(report.retryAfter)}.`;
  return [
    verdict(
      report.allowed ? 'admitted' : 'denied',
      `${report.parts.join(' : ')} ${report.allowed ? 'is allowed' : 'is denied'} by ${report.policy}`,
      report.allowed ? '' : waits,
      report.note || ''),
    ...report.limits.map((limit) => facts(limit.limit, [
      ['left', count(limit.remaining)],
      ['more in', limit.next === 'PT0S' ? '' : duration(limit.next)],
      ['all back in', limit.reset === 'PT0S' ? '' : duration(limit.reset)],
      ['from', report.source],
    ])),
  ];
}

/** A reset is asked for twice: it gives a client its whole quota. */
function ask() {
  const [policy, key] = chosen();
  find('key-sure-text').textContent = `Give ${key || 'this key'} its whole quota of ${policy} again?`;
  find('key-sure').hidden = false;
  find('key-yes').focus();
}

async function resetKey() {
  find('key-sure').hidden = true;
  await answer(async () => {
    const done = await reset(...chosen());
    return [verdict('admitted', `${done.parts.join(' : ')} has its whole quota of ${done.policy} again.`, done.note || '')];
  });
}
