// What the filters would do with a request that is described, and why.

import { explain } from './actuator.js';
import { answersIn, count, duration, facts, find, verdict } from './page.js';

export function startExplain() {
  const answer = answersIn('explain-answer');
  find('explain').addEventListener('submit', (event) => {
    event.preventDefault();
    answer(async () => shown(Object.values(await explain(request()))));
  });
}

function request() {
  const value = (part) => find(`explain-${part}`).value.trim();
  const user = value('user');
  return {
    method: value('method') || 'GET',
    path: value('path'),
    address: value('address'),
    headers: value('headers'),
    ...(user ? { user } : {}),
  };
}

/** The first filter that does not admit the request answers it. Rules that count it come before those that do not. */
function shown(filters) {
  const answering = filters.find((one) => !one.admitted) || filters[0];
  const rules = filters.flatMap((one) => one.rules);
  const readings = answering.paths.length > 1 ? `Readings of the path: ${answering.paths.join(', ')}` : '';
  return [
    verdict(
      answering.admitted ? 'admitted' : 'denied',
      answering.admitted ? 'This request reaches the application' : `This request gets ${answering.status}`,
      answering.reason,
      `Client ${answering.client} (${answering.clientFrom})`,
      readings),
    ...[true, false].flatMap((counts) => rules.filter((rule) => rule.counts === counts).map(ofRule)),
  ];
}

function ofRule({ rule, mode, counts, why, path, charge }) {
  const of = charge === null ? [] : [
    ['policy', charge.plan ? `${charge.policy}, plan ${charge.plan}` : charge.policy],
    ['key', charge.key],
    ['costs', count(charge.permits)],
    ...charge.limits.flatMap((limit) => [
      ['limit', limit.limit],
      ['left', `${count(limit.remaining)}${limit.allowed ? '' : `, denied for ${duration(limit.retryAfter)}`}`],
    ]),
    ['from', charge.source],
  ];
  const title = rule || 'a rule in code';
  return facts(mode === 'enforced' ? title : `${title} (${mode})`, [['why', why], ['path', path], ...of], counts ? 'plain' : 'idle');
}
