const NAMES = (id) => id.replaceAll('-', ' ').replace(/^./, (first) => first.toUpperCase());

export default {
  id: 'points',
  title: 'Reading points',
  article: '001 case 2',
  lead: 'A point for each article that you read, for five different ones a day. Reading one again scores nothing, however fast you click.',
  config: `limiter.policies.points.limits: 5/1d distinct repeat deny

@RateLimited(value = "points", key = "#visitor", member = "#article", refundOn = RuntimeException.class)
public int score(String visitor, String article) { ... }`,
  async mount(element, kit) {
    const numbers = document.createElement('div');
    const list = document.createElement('div');
    list.className = 'choices';
    const body = (article) => ({ visitor: kit.visitor, article });
    const read = (article) => kit.post('/api/points/read', body(article));
    const TEXTS = { scored: 'A point.', again: 'You have read it today, so no point.', enough: 'Five articles have scored today, so no point.' };
    const show = async () => {
      const { points, most, articles } = await kit.get(`/api/points?visitor=${encodeURIComponent(kit.visitor)}`);
      numbers.replaceChildren(kit.numbers({ 'points today': `${points} of ${most}` }));
      list.replaceChildren(...articles.map(({ article, scored }) => {
        const button = kit.button(NAMES(article), async () => { kit.say(TEXTS[(await read(article)).result]); await show(); });
        button.toggleAttribute('data-done', scored);
        return button;
      }));
      return articles.map(({ article }) => article);
    };
    const count = (results) => results.filter(({ result }) => result === 'scored').length;
    element.append(numbers, list, kit.row(
      kit.breaks('One article, 20 times at once', async () => {
        const results = await Promise.all(Array.from({ length: 20 }, () => read('tea-a-history')));
        kit.say(`20 visits at once: ${count(results)} of them scored.`);
        await show();
      }),
      kit.breaks('All articles at once', async () => {
        const results = await Promise.all((await show()).map(read));
        kit.say(`${results.length} articles at once: ${count(results)} scored, ${results.filter(({ result }) => result === 'enough').length} over the five of the day.`);
        await show();
      }),
      kit.button('Next day', async () => { await kit.post('/api/points/tomorrow', body('')); kit.say('A new day for you.'); await show(); }, 'quiet')));
    await show();
  },
};
