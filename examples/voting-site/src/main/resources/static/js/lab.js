import { callInTurn, Refused } from './server.js';
import { Lanes } from './lanes.js';
import { Notes } from './notes.js';
import { scenario } from './scenarios.js';

const BUSY_MILLIS = 250;
const IDLE_MILLIS = 1000;
const AWAY_MILLIS = 3000;
const SETTLE_MILLIS = 500;
const FIELDS = { permits: 'permits', periodMillis: 'seconds', burst: 'burst', calls: 'calls', overMillis: 'over' };

const find = (id) => document.getElementById(id);
const notes = new Notes();
const lanes = new Lanes(notes);
let busyUntil = 0;
let poll = 0;
let settle = 0;

export function startLab() {
  for (const id of ['permits', 'seconds', 'burst']) {
    find(id).addEventListener('input', () => {
      clearTimeout(settle);
      settle = setTimeout(setLimits, SETTLE_MILLIS);
    });
  }
  find('limits').addEventListener('submit', (event) => {
    event.preventDefault();
    setLimits();
  });
  find('rush').addEventListener('submit', (event) => {
    event.preventDefault();
    rush();
  });
  for (const button of document.querySelectorAll('[data-scenario]')) {
    button.addEventListener('click', () => {
      const { look, ...traffic } = scenario(button.dataset.scenario, notes.limits);
      send(traffic, look);
    });
  }
  find('stop').addEventListener('click', () => change('DELETE', 'api/lab/traffic'));
  find('clear').addEventListener('click', () => change('POST', 'api/lab/clear'));
  // A vote is an arrival too, and is shown at once.
  find('candidates').addEventListener('click', busy);
  find('vote-rush').addEventListener('click', busy);
  document.addEventListener('visibilitychange', busy);
  refresh().then(fillIn);
}

function fillIn() {
  find('permits').value = notes.limits.permits;
  find('seconds').value = notes.limits.periodMillis / 1000;
  find('burst').value = notes.limits.burst;
}

function setLimits() {
  clearTimeout(settle);
  const limits = { permits: number('permits'), periodMillis: number('seconds', 1000), burst: number('burst') };
  const same = Object.keys(limits).every((name) => limits[name] === notes.limits[name]);
  if (valid('permits', 'seconds', 'burst') && !same) {
    change('PUT', 'api/lab/limits', limits);
  }
}

async function rush() {
  if (!valid('calls', 'over')) {
    return;
  }
  const calls = number('calls');
  const overMillis = number('over', 1000);
  await send(
    { steps: [{ atMillis: 0, calls, overMillis }] },
    `${calls} calls in ${overMillis / 1000} s. The first ones pass where anything is left; while it lasts, only the bucket refills.`,
  );
}

async function send(traffic, look) {
  if (await change('POST', 'api/lab/traffic', traffic)) {
    find('look').textContent = look;
    bringIntoView();
  }
}

/** On a small screen the lanes are below what was pressed. */
function bringIntoView() {
  const { top, bottom } = find('lanes').getBoundingClientRect();
  if (top < 0 || bottom > window.innerHeight) {
    const calm = window.matchMedia('(prefers-reduced-motion: reduce)').matches;
    find('look').scrollIntoView({ block: 'start', behavior: calm ? 'auto' : 'smooth' });
  }
}

/** A change of the laboratory; true when it was made. */
async function change(method, path, body) {
  try {
    const sentAt = performance.now();
    const view = await callInTurn(method, path, body);
    take(view, sentAt);
    wrong(null);
    busy();
    return true;
  } catch (problem) {
    tellProblem(problem);
    return false;
  }
}

function take(view, sentAt) {
  if (view) {
    notes.take(view, sentAt, performance.now());
    lanes.tell();
    find('stop').disabled = !notes.running;
    const where = notes.backend === 'redis' ? 'Redis, shared by all instances' : 'this JVM';
    find('where').textContent = `Limits are kept in ${where}. Answered by ${notes.instance}, which counted the votes and calls shown here.`;
  }
}

async function refresh() {
  clearTimeout(poll);
  let wait = IDLE_MILLIS;
  try {
    const sentAt = performance.now();
    take(await callInTurn('GET', `api/lab?round=${notes.round}&after=${notes.last}`), sentAt);
    wait = notes.running || performance.now() < busyUntil ? BUSY_MILLIS : IDLE_MILLIS;
  } catch (problem) {
    const limited = problem instanceof Refused && problem.status === 429;
    wait = limited ? problem.retryAfterSeconds * 1000 : AWAY_MILLIS;
    find('where').textContent = limited
      ? 'You look very often; this page is limited too, and waits a moment.'
      : 'The server does not answer. Trying again.';
  }
  clearTimeout(poll);
  poll = setTimeout(() => { if (!document.hidden) { refresh(); } }, wait);
}

/** Something has just been sent: look more often for a while. */
function busy() {
  busyUntil = performance.now() + 3000;
  clearTimeout(poll);
  poll = setTimeout(refresh, 60);
}

function tellProblem(problem) {
  if (!(problem instanceof Refused)) {
    wrong('The server does not answer. Try again in a moment.');
  } else if (problem.status === 429) {
    wrong(`The laboratory is limited too: the number of calls that you may send is used up. Continue in ${problem.retryAfterSeconds} s.`);
  } else {
    wrong(problem.message, FIELDS[problem.field]);
  }
}

function number(id, factor = 1) {
  return Math.round(find(id).valueAsNumber * factor);
}

/** Shows the mistake in the first field with a wrong value. */
function valid(...ids) {
  for (const id of ids) {
    const input = find(id);
    if (!input.checkValidity()) {
      const kind = input.step === '1' ? 'a whole number' : 'a number, in halves,';
      wrong(`Write ${kind} from ${input.min} to ${input.max}.`, id);
      return false;
    }
  }
  wrong(null);
  return true;
}

function wrong(text, id) {
  find('wrong').hidden = !text;
  find('wrong').textContent = text || '';
  for (const input of document.querySelectorAll('.sentence input')) {
    input.toggleAttribute('aria-invalid', input.id === id);
  }
}
