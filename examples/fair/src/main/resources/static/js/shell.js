import { panels } from './panels.js';
import { kitFor, setVisitor, visitor } from './kit.js';
import { drawPicture } from './picture.js';
import { playScene } from './scene.js';

const PICTURE_MILLIS = 2000;
const NAME = 'The evening of a vote';
const find = (id) => document.getElementById(id);
const main = find('main');
let all = [];
let shown = null;

/** Shows the panel of the address, and another one whenever that changes. */
export async function start() {
  const loaded = await panels();
  all = loaded.all;
  for (const { id, title } of all) {
    const link = document.createElement('a');
    link.href = `#${id}`;
    link.dataset.id = id;
    link.textContent = title;
    find('nav').append(link);
  }
  find('visitor').value = visitor();
  find('visitor').addEventListener('change', (event) => {
    event.target.value = setVisitor(event.target.value);
    show(false);
  });
  document.querySelector('[data-skip]').addEventListener('click', (event) => {
    event.preventDefault();
    main.focus();
  });
  addEventListener('hashchange', () => show(true));
  setInterval(() => { if (!document.hidden && shown) { shown.refresh(); } }, PICTURE_MILLIS);
  show(false);
  if (loaded.missing.length > 0) {
    console.warn(`not loaded: ${loaded.missing.join(', ')}`);
  }
}

function show(moved) {
  if (shown) { shown.close(); }
  shown = null;
  const panel = all.find(({ id }) => `#${id}` === location.hash);
  for (const link of document.querySelectorAll('nav a')) {
    const current = link.dataset.id === (panel ? panel.id : '');
    link.toggleAttribute('aria-current', current);
    if (current) {
      link.setAttribute('aria-current', 'page');
      link.parentElement.scrollTo({ left: link.offsetLeft - 80 });
    }
  }
  document.title = panel ? `${panel.title} · ${NAME}` : NAME;
  main.replaceChildren(find(panel ? 'panel' : 'home').content.cloneNode(true));
  if (panel) { showPanel(panel); } else { showHome(); }
  if (moved) {
    scrollTo(0, 0);
    main.focus({ preventScroll: true });
  }
}

function showHome() {
  for (const { id, title, lead } of all) {
    const card = document.createElement('a');
    card.href = `#${id}`;
    const name = document.createElement('b');
    name.textContent = title;
    const text = document.createElement('span');
    text.textContent = lead;
    card.append(name, text);
    const item = document.createElement('li');
    item.append(card);
    find('cards').append(item);
  }
  playScene(find('scene'), find('scene-text'), find('scene-again'));
}

async function showPanel(panel) {
  const part = (selector) => main.querySelector(selector);
  const learn = document.createElement('a');
  learn.href = 'design/articles.md';
  learn.textContent = 'what it gets wrong';
  part('.article').append(`Article ${panel.article}, and `, learn);
  part('h1').textContent = panel.title;
  part('.lead').textContent = panel.lead;
  part('.behind pre').textContent = panel.config;
  const kit = kitFor(panel, part('.said'), drawPicture(part));
  shown = kit;
  kit.refresh();
  try {
    await panel.mount(part('.body'), kit);
  } catch (problem) {
    kit.say(problem.message, 'bad');
  }
  kit.refresh();
}
