// The first scenario: real decisions of the limiter, drawn one after the other.
import { post } from './kit.js';

const SVG = 'http://www.w3.org/2000/svg';
const GATE = 330;
const EVERY_MILLIS = 130;
const FLIGHT_MILLIS = 1100;
const LANES = { script: { y: 62, label: 'a script, as fast as it can' }, people: { y: 172, label: 'nine people' } };
let playing = 0;

function add(parent, name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) { element.setAttribute(key, value); }
  if (text !== undefined) { element.textContent = text; }
  parent.append(element);
  return element;
}

/** Plays it once, and again with the button. Where motion is not wanted, the end is drawn at once. */
export function playScene(element, caption, again) {
  const play = async () => {
    again.disabled = true;
    playing += 1;
    try {
      await scene(element, caption, playing);
    } catch (problem) {
      caption.textContent = problem.message;
    }
    again.disabled = false;
  };
  again.addEventListener('click', play);
  play();
}

async function scene(element, caption, round) {
  const votes = await post('/api/limits/evening');
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 560 236');
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', 'Votes of a script and of nine people come to a gate; most of the script are refused.');
  element.replaceChildren(svg);
  for (const { y, label } of Object.values(LANES)) {
    add(svg, 'text', { x: 8, y: y - 30, class: 'svg-label' }, label);
    add(svg, 'line', { x1: 14, y1: y, x2: 545, y2: y, class: 'svg-lane' });
  }
  add(svg, 'line', { x1: GATE, y1: 34, x2: GATE, y2: 214, class: 'svg-gate' });
  add(svg, 'text', { x: GATE, y: 20, class: 'svg-label', 'text-anchor': 'middle' }, '3 in 10 s for each voter');
  const counts = { script: { sent: 0, counted: 0, places: 0 }, people: { sent: 0, counted: 0, places: 0 } };
  const figures = Object.fromEntries(Object.entries(LANES).map(([who, { y }]) => [
    who, add(svg, 'text', { x: 548, y: y - 28, class: 'svg-figure', 'text-anchor': 'end' }, '0')]));
  const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
  const tell = () => {
    const { script, people } = counts;
    caption.textContent = `The script sent ${script.sent} votes, ${script.counted} count. The people sent ${people.sent}, ${people.counted} count. The limiter has just decided each of them.`;
  };
  caption.textContent = 'Votes are sent to the limiter of this site.';
  await Promise.all(votes.map(async (vote, index) => {
    const who = vote.voter === 'script' ? 'script' : 'people';
    if (!calm) { await sleep(index * EVERY_MILLIS); }
    if (round !== playing || !svg.isConnected) { return; }
    const place = counts[who].places;
    counts[who].places += vote.counts ? 1 : 0;
    await fly(svg, LANES[who].y, place, vote.counts, calm);
    counts[who].sent += 1;
    counts[who].counted += vote.counts ? 1 : 0;
    figures[who].textContent = counts[who].counted;
  }));
  if (round === playing) { tell(); }
}

/** A vote that counts takes its place behind the gate, another one falls down before it. */
async function fly(svg, y, place, counts, calm) {
  const scatter = (Math.random() - 0.5) * 16;
  const vote = counts
    ? add(svg, 'circle', { r: 6.5, class: 'counted' })
    : add(svg, 'path', { d: 'M-5 -5 L5 5 M-5 5 L5 -5', class: 'refused' });
  const at = (left, top) => `translate(${left}px, ${top}px)`;
  const target = counts ? at(GATE + 26 + place * 16, y) : at(GATE - 14 - Math.random() * 240, y + 24 + Math.random() * 18);
  vote.style.transform = target;
  vote.style.opacity = counts ? 1 : 0.55;
  if (calm) { return; }
  const path = counts
    ? [{ transform: at(14, y + scatter) }, { transform: at(GATE, y), offset: 0.7 }, { transform: target }]
    : [{ transform: at(14, y + scatter), opacity: 1 }, { transform: at(GATE - 9, y + scatter), offset: 0.7, opacity: 1 }, { transform: target, opacity: 0.55 }];
  await vote.animate(path, { duration: FLIGHT_MILLIS, easing: 'linear' }).finished.catch(() => {});
}

const sleep = (millis) => new Promise((done) => { setTimeout(done, millis); });
