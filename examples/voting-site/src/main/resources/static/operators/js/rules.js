// The rules of the filters and the annotated methods, as they are in force.

import { element, find, row, withoutPackages } from './page.js';

let last = '';

export function showRules({ rules, methods }) {
  const now = JSON.stringify([rules, methods]);
  if (now === last) {
    return;
  }
  last = now;
  const table = find('rules');
  table.tBodies[0].replaceChildren(
    ...rules.map((rule) => row(table, [
      element('strong', {}, rule.name),
      requests(rule),
      rule.key,
      rule.plan ? [rule.policy, quiet(`plan by ${withoutPackages(rule.plan)}`)] : rule.policy,
      [rule.mode, quiet(rule.position.replace('-', ' '))],
      [
        rule.isDefault ? quiet('default rule') : null,
        rule.cost === '1' ? null : quiet(`cost ${rule.cost}`),
        rule.outcomes ? quiet(rule.outcomes) : null,
        exempt(rule.exempt),
      ],
    ])),
    ...methods.map((method) => row(table, [
      element('strong', {}, withoutPackages(method.method)),
      'calls of the method',
      method.key,
      method.policy,
      method.shadow ? 'shadow' : 'enforced',
      [
        method.permits === '1' ? null : quiet(`cost ${method.permits}`),
        method.condition ? quiet(`if ${method.condition}`) : null,
      ],
    ])));
}

const quiet = (text) => element('span', { class: 'quiet-line' }, text);

function requests(rule) {
  return [
    `${rule.methods.length === 0 ? '' : `${rule.methods.join(', ')} `}${rule.paths.join(', ')}`,
    ...rule.headers.map((header) => quiet(`header ${header}`)),
    ...rule.query.map((parameter) => quiet(`query ${parameter}`)),
    ...rule.except.map((path) => quiet(`except ${path}`)),
  ];
}

function exempt({ addresses, users, roles }) {
  const all = [...addresses, ...users, ...roles];
  return all.length === 0 ? null : quiet(`exempt ${all.join(', ')}`);
}
