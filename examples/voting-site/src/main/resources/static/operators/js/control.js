// What is published for all instances: versions, overrides and switches. Each change is asked for twice.

import { change, control } from './actuator.js';
import { answersIn, element, find, row, verdict } from './page.js';

const answer = answersIn('control-answer');
const OVERRIDES = ['limits', 'unlimited', 'blocked'];
const HOUR_MILLIS = 3600000;
let version = 0;
let asked = null;
let isMissing = false;

export function startControl() {
  find('control-publish').addEventListener('submit', (event) => {
    event.preventDefault();
    ask('Replace the published text by this one?', { command: `publish --based ${version}`, text: find('control-text').value });
  });
  find('control-set').addEventListener('submit', (event) => {
    event.preventDefault();
    askToSet();
  });
  find('control-no').addEventListener('click', () => { find('control-sure').hidden = true; });
  find('control-yes').addEventListener('click', doIt);
}

/** Shows the section where this application belongs to a group; else it stays hidden. */
export async function refreshControl() {
  if (isMissing) {
    return;
  }
  try {
    show(await control());
  } catch (failure) {
    isMissing = failure.status === 404;
    if (!isMissing) {
      throw failure;
    }
  }
}

function show(state) {
  version = state.version;
  find('control').hidden = false;
  const current = state.instances.filter((one) => one.isCurrent).length;
  find('control-state').textContent = `Version ${version}. ${current} of ${state.instances.length} instances run everything that is published.`;
  fill('instances', state.instances.map((one) => [one.name, String(one.version), one.problem]));
  fill('entries', state.entries.map((one) => [
    one.to, `${one.target} ${one.key}`, one.until, `${one.author} ${one.note}`, button('Remove', () => askToRemove(one)),
  ]));
  fill('versions', state.versions.slice(0, 5).map((one) => [
    String(one.version), one.change, `${one.author} ${one.note}`,
    one.version === version ? '' : button('Roll back', () => ask(
      `Publish version ${one.version} again?`, { command: `roll-back ${one.version}` })),
  ]));
}

function fill(id, rows) {
  const table = find(id);
  table.hidden = rows.length === 0;
  // Not while somebody is about to press one of its buttons.
  if (!table.contains(document.activeElement)) {
    table.tBodies[0].replaceChildren(...rows.map((cells) => row(table, cells)));
  }
}

function button(text, pressed) {
  const made = element('button', { type: 'button', class: 'button second' }, text);
  made.addEventListener('click', pressed);
  return made;
}

function askToSet() {
  const kind = find('control-kind').value;
  const target = find('control-target').value.trim();
  const until = new Date(Date.now() + Number(find('control-hours').value) * HOUR_MILLIS).toISOString();
  const key = OVERRIDES.includes(kind) ? find('control-key').value.trim() : '';
  const to = kind === 'limits' ? find('control-limits').value : kind;
  ask(
    `Set ${target} ${key} to ${to} until ${until}?`,
    { command: `set ${words(target, key)} --to ${quoted(to)} --until ${until} --note ${quoted(find('control-note').value)}` },
  );
}

// What something is set for.
function words(target, key) {
  return key ? `${quoted(target)} ${quoted(key)}` : quoted(target);
}

// A value of a command, with its spaces.
function quoted(value) {
  return `"${value.replaceAll('"', "'")}"`;
}

function askToRemove({ target, key }) {
  ask(`Remove what is set for ${target} ${key}?`, { command: `remove ${words(target, key)}` });
}

function ask(text, request) {
  asked = request;
  find('control-sure-text').textContent = text;
  find('control-sure').hidden = false;
  find('control-yes').focus();
}

async function doIt() {
  const request = asked;
  find('control-sure').hidden = true;
  await answer(async () => [verdict('admitted', ...(await change(request)).lines)]);
  await refreshControl();
}
