// Calls to the actuator. The browser adds the login by itself; what changes or sends something needs the token of this site too.

const HOME = '../actuator/ratelimits';
const EXPLAIN = '../actuator/ratelimitexplain';
const CONTROL = '../actuator/ratelimitcontrol';

export class Failure extends Error {
  constructor(status, text) {
    super(text || `The server answered ${status}.`);
    this.status = status;
  }
}

export const overview = () => call('GET', '');
export const denied = () => call('GET', '/denied');
export const look = (policy, key) => call('GET', ofKey(policy, key));
export const reset = (policy, key) => call('DELETE', ofKey(policy, key));
export const explain = (request) => call('POST', '', request, EXPLAIN);
export const control = () => call('GET', '', undefined, CONTROL);
export const change = (request) => call('POST', '', request, CONTROL);

function ofKey(policy, key) {
  return `/${encodeURIComponent(policy)}?${new URLSearchParams({ key })}`;
}

async function call(method, path, body, home = HOME) {
  const headers = { Accept: 'application/json' };
  if (method !== 'GET') {
    headers['X-XSRF-TOKEN'] = token();
  }
  if (body !== undefined) {
    headers['Content-Type'] = 'application/json';
  }
  const response = await fetch(home + path, {
    method, headers, body: JSON.stringify(body), cache: 'no-store', credentials: 'same-origin',
  });
  const answer = await response.json().catch(() => ({}));
  // 503 with limits that nobody knows is an answer about a key, and has its reason in a note.
  if (response.ok || answer.policy) {
    return answer;
  }
  throw new Failure(response.status, answer.error);
}

function token() {
  const found = document.cookie.split('; ').find((one) => one.startsWith('XSRF-TOKEN='));
  return found ? decodeURIComponent(found.slice('XSRF-TOKEN='.length)) : '';
}
