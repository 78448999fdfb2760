// The policies with their counters, where decisions come from, and the backend.

import { History } from './history.js';
import { count, element, find, withoutPackages } from './page.js';

const shown = new Map();

export function showOverview(report) {
  showBackend(report);
  const names = Object.keys(report.policies);
  [...shown.keys()].filter((name) => !names.includes(name)).forEach((gone) => {
    shown.get(gone).card.remove();
    shown.delete(gone);
  });
  names.forEach((name) => {
    if (!shown.has(name)) {
      shown.set(name, makeCard(name));
      find('policies').append(shown.get(name).card);
    }
    update(shown.get(name), name, report.policies[name]);
  });
  offer(names);
}

function showBackend({ backend, uncounted }) {
  const servers = Object.entries(backend.servers).map(([name, state]) => `${name} ${state}`);
  find('backend').textContent = backend.kind === 'redis'
    ? `The state is in Redis: ${servers.join(', ')}.`
    : 'The state is in this instance.';
  const failures = Object.entries(backend.failures).filter(([, number]) => number > 0)
    .map(([kind, number]) => `${count(number)} ${kind}`);
  find('findings').replaceChildren(
    ...backend.findings.map((line) => element('li', { 'data-kind': 'finding' }, line)),
    ...(failures.length === 0 ? [] : [element('li', {}, `Calls without an answer from Redis since startup: ${failures.join(', ')}.`)]),
    ...uncounted.map((line) => element('li', {}, line)));
}

function makeCard(name) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('role', 'img');
  svg.setAttribute('preserveAspectRatio', 'none');
  const parts = { limits: 'limits', origin: 'origin', totals: 'totals', sources: 'origin', scale: 'scale' };
  Object.entries(parts).forEach(([part, kind]) => { parts[part] = element('p', { class: kind }); });
  const card = element('article', { class: 'policy', 'data-policy': name },
    element('div', {}, element('h3', {}, name), parts.limits, parts.origin),
    element('div', {}, parts.totals, parts.sources),
    element('div', { class: 'chart' }, svg, parts.scale));
  return { card, svg, history: new History(), ...parts };
}

function update(policy, name, report) {
  const sources = Object.entries(report.decisions);
  const total = sources.reduce(
    (sum, [, { allowed, denied }]) => ({ allowed: sum.allowed + allowed, denied: sum.denied + denied }),
    { allowed: 0, denied: 0 });
  policy.limits.textContent = report.limits.join(', ');
  policy.origin.textContent = [
    report.definedBy === 'configuration' ? '' : `by ${withoutPackages(report.definedBy)}`,
    report.onFailure ? `on failure ${report.onFailure}` : '',
  ].filter((part) => part).join(', ');
  policy.totals.replaceChildren(...(total.allowed + total.denied === 0
    ? [element('span', { class: 'none' }, 'no calls yet')]
    : [element('span', { class: 'admitted' }, `${count(total.allowed)} allowed`),
      element('span', { class: 'denied' }, `${count(total.denied)} denied`)]));
  policy.sources.textContent = sources
    .map(([source, { allowed, denied }]) => `${source} ${count(allowed + denied)}`).join(', ');
  policy.history.add(total);
  policy.history.draw(policy.svg, name);
  policy.scale.replaceChildren(
    element('span', {}, '3 min ago'),
    element('span', {}, `highest ${count(policy.history.most)}`),
    element('span', {}, 'now'));
}

/** The choice of policies for a look keeps what is chosen. */
function offer(names) {
  const select = find('key-policy');
  const before = select.value;
  if ([...select.options].map((option) => option.value).join('\n') !== names.join('\n')) {
    select.replaceChildren(...names.map((name) => element('option', { value: name }, name)));
    if (names.includes(before)) {
      select.value = before;
    }
  }
}
