const NAME = 'fair-visitor';

async function call(method, path, body) {
  const options = { method, cache: 'no-store', headers: {} };
  if (body !== undefined) {
    options.headers['Content-Type'] = 'application/json';
    options.body = JSON.stringify(body);
  }
  const response = await fetch(path.replace(/^\//, ''), options).catch(() => { throw new Error('The server does not answer.'); });
  const text = await response.text();
  const answer = text === '' ? null : JSON.parse(text);
  if (!response.ok) {
    const problem = new Error((answer && (answer.detail || answer.title)) || `The server answered ${response.status}.`);
    problem.status = response.status;
    problem.retryAfter = Number(response.headers.get('Retry-After')) || 0;
    if (problem.status === 429) { problem.message = `This page is limited too. Go on in ${problem.retryAfter} s.`; }
    throw problem;
  }
  return answer;
}

/** A call without a panel. */
export const post = (path, body = {}) => call('POST', path, body);

/** The visitor's name, made up where there is none. */
export function visitor() {
  return localStorage.getItem(NAME) || setVisitor('');
}

/** Sets it; returns what it is now. */
export function setVisitor(wanted) {
  const name = wanted.trim() || `guest-${Math.random().toString(36).slice(2, 6)}`;
  localStorage.setItem(NAME, name);
  return name;
}

function box(kind, ...content) {
  const element = document.createElement('div');
  element.className = kind;
  element.append(...content);
  return element;
}

/** What a panel works with. */
export function kitFor(panel, said, draw) {
  const timers = [];
  let closed = false;
  const say = (text, kind = 'good') => {
    said.dataset.kind = kind;
    // Set again even if it is the same text, so that a screen reader announces it again.
    said.textContent = '';
    said.textContent = text;
  };
  /** Draws a picture that was asked for after this call: of many calls at once, the first one and one after it. */
  let drawing = null;
  let next = null;
  const look = async () => {
    try {
      const picture = await call('GET', `/api/redis/${panel.id}`);
      if (!closed) { draw(picture); }
    } catch (problem) {
      // It is asked for again in a moment. What was drawn stays, unless it is known to be out of date.
      if (!closed && problem.status !== 429) { draw(null, problem.message); }
    }
  };
  const refresh = () => {
    if (closed) { return Promise.resolve(); }
    if (!drawing) {
      drawing = look().finally(() => { drawing = null; });
      return drawing;
    }
    next = next || drawing.then(() => { next = null; return refresh(); });
    return next;
  };
  const button = (label, onClick, kind = '') => {
    const element = document.createElement('button');
    element.type = 'button';
    element.className = kind;
    element.textContent = label;
    element.addEventListener('click', async () => {
      element.disabled = true;
      try {
        await onClick();
      } catch (problem) {
        say(problem.message, 'bad');
      } finally {
        element.disabled = false;
        refresh();
      }
    });
    return element;
  };
  const kit = {
    get: (path) => call('GET', path),
    /** What has changed is in the picture before the panel shows the answer. */
    post: async (path, body) => {
      const answer = await post(path, body);
      await refresh();
      return answer;
    },
    refresh,
    row: (...elements) => box('row', ...elements),
    field: (label, value, attributes = {}) => {
      const element = document.createElement('label');
      const input = document.createElement('input');
      Object.assign(input, attributes, { value });
      element.className = 'field';
      element.append(label, input);
      element.input = input;
      return element;
    },
    numbers: (values) => box('numbers', ...Object.entries(values).map(([name, value]) => {
      const figure = document.createElement('b');
      figure.textContent = value;
      return box('number', figure, name);
    })),
    table: (rows, columns) => {
      const table = document.createElement('table');
      const head = table.createTHead().insertRow();
      const headings = Array.isArray(columns) ? Object.fromEntries(columns.map((name) => [name, name])) : columns || {};
      for (const heading of Object.values(headings)) {
        const cell = document.createElement('th');
        cell.scope = 'col';
        cell.textContent = heading;
        head.append(cell);
      }
      const body = table.createTBody();
      for (const row of rows) {
        const line = body.insertRow();
        for (const name of Object.keys(headings)) { line.insertCell().textContent = row[name] ?? ''; }
      }
      return box('scrolls', table);
    },
    /** With a picture of the same moment. One after the other, also where Redis is slow. */
    every: (millis, fn) => {
      let busy = false;
      timers.push(setInterval(async () => {
        if (document.hidden || busy) { return; }
        busy = true;
        await Promise.all([Promise.resolve(fn()).catch(() => {}), refresh()]);
        busy = false;
      }, millis));
    },
    close: () => {
      closed = true;
      timers.forEach(clearInterval);
    },
    /** (label, onClick, 'quiet' for one that matters less). */
    button,
    breaks: (label, onClick) => button(label, onClick, 'breaks'),
    say,
    get visitor() { return visitor(); },
  };
  return kit;
}
