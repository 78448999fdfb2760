import * as actuator from './actuator.js';
import { refreshControl, startControl } from './control.js';
import { showDenied } from './denied.js';
import { startExplain } from './explain.js';
import { startKeys } from './keys.js';
import { find } from './page.js';
import { showOverview } from './policies.js';
import { showRules } from './rules.js';

const REFRESH_MILLIS = 2000;

async function refresh() {
  try {
    const [report, denied] = await Promise.all([actuator.overview(), actuator.denied()]);
    showOverview(report);
    showRules(report);
    showDenied(denied);
    await refreshControl();
    find('refreshed').textContent = `As of ${new Date().toLocaleTimeString('en-GB')}, every ${REFRESH_MILLIS / 1000} seconds.`;
  } catch (failure) {
    find('refreshed').textContent = `The server can’t be asked: ${failure.message} The page shows what it knew.`;
  }
}

/** One after the other, so that no late answer undoes a newer one. */
async function keepFresh() {
  if (!document.hidden) {
    await refresh();
  }
  setTimeout(keepFresh, REFRESH_MILLIS);
}

startKeys();
startExplain();
startControl();
keepFresh();
