// Calls to the server. The laboratory's calls go one after the other, so that a late answer never undoes a newer one.

export class Refused extends Error {
  constructor(status, problem, retryAfterSeconds) {
    super(problem.detail || problem.title || `The server answered ${status}.`);
    this.status = status;
    this.field = problem.field;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export async function call(method, path, body) {
  const options = { method, cache: 'no-store', credentials: 'same-origin' };
  if (body !== undefined) {
    options.headers = { 'Content-Type': 'application/json' };
    options.body = JSON.stringify(body);
  }
  const response = await fetch(path, options);
  if (response.ok) {
    return response.status === 204 ? null : response.json();
  }
  const problem = await response.json().catch(() => ({}));
  throw new Refused(response.status, problem, Number(response.headers.get('Retry-After')) || 0);
}

let last = Promise.resolve();

export function callInTurn(method, path, body) {
  const mine = last.then(() => call(method, path, body));
  last = mine.catch(() => {});
  return mine;
}
