'use strict';

const SHOWN_CALLS = 60;

for (const card of document.querySelectorAll('.card')) {
  card.append(document.getElementById('controls').content.cloneNode(true));
  start(card);
}

function start(card) {
  const { method, path } = card.dataset;
  const rush = Number(card.dataset.rush);
  const find = (selector) => card.querySelector(selector);
  const buttons = card.querySelectorAll('button');
  let passed = 0;
  let denied = 0;
  let timer = 0;

  find('button.rush').textContent = `Rush: ${rush} calls`;
  find('button.once').addEventListener('click', () => send(1));
  find('button.rush').addEventListener('click', () => send(rush));

  async function send(calls) {
    buttons.forEach((button) => { button.disabled = true; });
    const answers = await Promise.all(Array.from({ length: calls }, call));
    buttons.forEach((button) => { button.disabled = false; });
    tell(answers);
    // On a small screen the result of a rush may be below what was pressed.
    find('.status').scrollIntoView({ block: 'nearest' });
  }

  async function call() {
    try {
      const response = await fetch(path, { method, cache: 'no-store' });
      mark(response.ok);
      return { status: response.status, retryAfter: Number(response.headers.get('Retry-After')) };
    } catch (unreachable) {
      return { status: 0, retryAfter: 0 };
    }
  }

  function mark(ok) {
    const dot = document.createElement('li');
    dot.className = ok ? '' : 'denied';
    const calls = find('.calls');
    calls.append(dot);
    if (calls.children.length > SHOWN_CALLS) {
      calls.firstElementChild.remove();
    }
    if (ok) {
      passed += 1;
    } else {
      denied += 1;
    }
    find('.counts .passed').textContent = `${passed} passed`;
    find('.counts .denied').textContent = `${denied} denied`;
  }

  function tell(answers) {
    const codes = new Map();
    answers.forEach(({ status }) => codes.set(status, (codes.get(status) || 0) + 1));
    if (codes.has(0)) {
      show('The server does not answer.');
      return;
    }
    const summary = [...codes].sort().map(([status, times]) => (times > 1 ? `${times} × ${status}` : `${status}`)).join(', ');
    const wait = Math.max(...answers.map(({ retryAfter }) => retryAfter));
    if (wait > 0) {
      countDown(summary, Date.now() + wait * 1000);
    } else {
      show(`${summary}.`);
    }
  }

  function countDown(summary, end) {
    const step = () => {
      const left = Math.ceil((end - Date.now()) / 1000);
      if (left > 0) {
        show(`${summary}. Retry-After: ${left} s`);
        timer = setTimeout(step, 200);
      } else {
        show(`${summary}. Go again now.`);
      }
    };
    clearTimeout(timer);
    step();
  }

  function show(text) {
    if (!text.includes('Retry-After')) {
      clearTimeout(timer);
    }
    if (find('.status').textContent !== text) {
      find('.status').textContent = text;
    }
  }
}
