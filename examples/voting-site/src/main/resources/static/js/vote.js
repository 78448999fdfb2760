import { call, Refused } from './server.js';

const RUSH_VOTES = 20;
const REFRESH_MILLIS = 3000;

const find = (id) => document.getElementById(id);
const rows = new Map();
let favorite = 'tea';
let rule = null;
let waitEnd = 0;
let waitMillis = 0;
let timer = 0;

export function startVote() {
  find('vote-rush').addEventListener('click', rush);
  refresh();
  setInterval(() => { if (!document.hidden) { refresh(); } }, REFRESH_MILLIS);
}

async function refresh() {
  try {
    show(await call('GET', 'api/results'));
  } catch (away) {
    // The footer of the page shows that the server is unreachable; the last results stay.
  }
}

function show(results) {
  rule = results.rule;
  const seconds = rule.periodMillis / 1000;
  find('rule').textContent = `Vote as often as you like: ${rule.votes} in any ${seconds} seconds count, the others are refused.`;
  const total = results.candidates.reduce((sum, { votes }) => sum + votes, 0);
  for (const { id, name, votes } of results.candidates) {
    const row = rows.get(id) || addRow(id, name);
    row.querySelector('.votes').textContent = votes === 1 ? '1 vote' : `${votes} votes`;
    row.querySelector('.bar div').style.transform = `scaleX(${total === 0 ? 0 : votes / total})`;
  }
}

function addRow(id, name) {
  const row = find('candidate').content.firstElementChild.cloneNode(true);
  row.querySelector('.name').textContent = name;
  const button = row.querySelector('button');
  button.textContent = 'Vote';
  button.setAttribute('aria-label', `Vote for ${name}`);
  button.dataset.candidate = id;
  button.addEventListener('click', () => vote(id, name));
  rows.set(id, row);
  find('candidates').append(row);
  return row;
}

async function vote(id, name) {
  prefer(id, name);
  const answer = await ask(id);
  if (answer.ok) {
    show(answer.results);
    tell('admitted', `Your vote for ${name} counts.`);
  } else {
    tellRefused('Refused', answer);
  }
}

async function rush() {
  find('vote-rush').disabled = true;
  const answers = await Promise.all(Array.from({ length: RUSH_VOTES }, () => ask(favorite)));
  find('vote-rush').disabled = false;
  const refused = answers.filter(({ ok }) => !ok);
  if (refused.length === 0) {
    tell('admitted', `All ${RUSH_VOTES} votes count.`);
  } else {
    const longest = refused.reduce((a, b) => (b.retryAfter > a.retryAfter ? b : a));
    tellRefused(`${RUSH_VOTES - refused.length} of ${RUSH_VOTES} votes count, ${refused.length} refused`, longest);
  }
  refresh();
}

async function ask(candidate) {
  try {
    return { ok: true, results: await call('POST', 'api/votes', { candidate }) };
  } catch (problem) {
    const known = problem instanceof Refused;
    return {
      ok: false,
      status: known ? problem.status : 0,
      why: known ? problem.message : 'The server does not answer.',
      retryAfter: known ? problem.retryAfterSeconds : 0,
    };
  }
}

function prefer(id, name) {
  favorite = id;
  find('favorite').textContent = name;
}

function tellRefused(what, { status, why, retryAfter }) {
  if (status !== 429) {
    tell('denied', `${what}. ${why}`);
    return;
  }
  const limit = rule ? `: ${rule.votes} votes in any ${rule.periodMillis / 1000} seconds are enough` : '';
  tell('denied', `${what}${limit}.`);
  waitMillis = retryAfter * 1000;
  waitEnd = performance.now() + waitMillis;
  countDown();
}

function tell(kind, text) {
  clearTimeout(timer);
  find('outcome').dataset.kind = kind;
  find('outcome-wait').textContent = '';
  find('outcome-drain').style.transform = 'scaleX(0)';
  // Set again even if it is the same text, so that a screen reader announces the second denial too.
  find('outcome-text').textContent = '';
  find('outcome-text').textContent = text;
  bringIntoView();
}

/** On a small screen the answer may be below what was pressed. */
function bringIntoView() {
  const { top, bottom } = find('outcome').getBoundingClientRect();
  if (top < 0 || bottom > window.innerHeight) {
    const calm = window.matchMedia('(prefers-reduced-motion: reduce)').matches;
    find('outcome').scrollIntoView({ block: 'nearest', behavior: calm ? 'auto' : 'smooth' });
  }
}

function countDown() {
  const left = waitEnd - performance.now();
  if (left <= 0) {
    find('outcome').dataset.kind = 'again';
    find('outcome-text').textContent = 'You can vote again.';
    find('outcome-wait').textContent = '';
    find('outcome-drain').style.transform = 'scaleX(0)';
    return;
  }
  find('outcome-wait').textContent = `The next one counts in ${Math.ceil(left / 1000)} s.`;
  find('outcome-drain').style.transform = `scaleX(${left / waitMillis})`;
  timer = setTimeout(countDown, 100);
}
