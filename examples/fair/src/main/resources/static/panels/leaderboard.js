const rows = (list, me) => list.map(({ rank, member, points }) => ({ rank, member: member === me ? `${member} (you)` : member, points }));

export default {
  id: 'leaderboard',
  title: 'Leaderboard',
  article: '004 section 3',
  lead: 'Candidates by votes, voters by points, and where you are. The voters are kept twice: in one sorted set, and in one for each 100 points.',
  config: `board = redisson.getScoredSortedSet("fair:{leaderboard}:voters");

board.addScore(voter, -points);  // negated: ties are by name
board.entryRange(0, n - 1);      // top N; any ranks: first - 1, last - 1
board.rank(voter);               // my rank, from 0
board.getScore(voter);           // my points, negated`,
  async mount(element, kit) {
    const boards = document.createElement('div');
    boards.className = 'pair';
    const below = document.createElement('div');
    const part = (title, content) => {
      const section = document.createElement('section');
      const heading = document.createElement('h3');
      heading.textContent = title;
      section.append(heading, content);
      return section;
    };
    const show = (view) => {
      const me = kit.visitor;
      boards.replaceChildren(
        part('Candidates', kit.table(rows(view.candidates), { rank: '', member: 'candidate', points: 'votes' })),
        part('Best voters', kit.table(rows(view.top, me), { rank: '', member: 'voter', points: 'points' })),
        part('Around you', view.around.length
          ? kit.table(rows(view.around, me), { rank: '', member: 'voter', points: 'points' })
          : Object.assign(document.createElement('p'), { className: 'caption', textContent: 'Vote once, and you are on the board.' })));
      const inSegments = Object.values(view.segments).reduce((sum, size) => sum + size, 0);
      below.replaceChildren(kit.numbers({
        'your points': view.points ?? 'none',
        voters: view.voters,
        [`in ${Object.keys(view.segments).length} segments`]: inSegments,
        'same order in both': view.sameOrder ? 'yes' : 'no',
      }));
      return view;
    };
    const first = kit.field('ranks from', 1, { type: 'number', min: 1, max: 999 });
    const last = kit.field('to', 10, { type: 'number', min: 1, max: 999 });
    const range = document.createElement('div');
    const rankOf = (view) => {
      const mine = view.around.find(({ member }) => member === kit.visitor);
      return mine ? `You are number ${mine.rank} of ${view.voters}.` : '';
    };
    element.append(
      kit.row(
        ...['Ada', 'Ben', 'Cleo', 'Dan'].map((candidate) => kit.button(`Vote for ${candidate}`, async () => {
          kit.say(`One vote for ${candidate}, one point for you. ${rankOf(show(await kit.post('/api/leaderboard/vote', { voter: kit.visitor, candidate })))}`);
        }))),
      kit.row(
        kit.breaks('Rush: 1,200 votes at once', async () => {
          const view = show(await kit.post('/api/leaderboard/rush', { voter: kit.visitor }));
          const inSegments = Object.values(view.segments).reduce((sum, size) => sum + size, 0);
          kit.say(view.cleared
            ? 'The board was cleared in the middle of the rush: what was still on its way counts nothing.'
            : `300 voters voted four times each and moved between segments. ${view.voters} voters on the board, ${inSegments} in the segments: nobody twice. ${rankOf(view)}`);
        }),
        kit.button('Clear', async () => {
          await kit.post('/api/leaderboard/clear');
          await look();
          range.replaceChildren();
          kit.say('All votes and points are gone.');
        }, 'quiet')),
      kit.row(
        first, last,
        kit.button('Show these ranks', async () => {
          const found = await kit.get(`/api/leaderboard/ranks?${new URLSearchParams({ first: first.input.value, last: last.input.value })}`);
          range.replaceChildren(part(`Ranks ${first.input.value} to ${last.input.value}`, kit.table(rows(found, kit.visitor), { rank: '', member: 'voter', points: 'points' })));
          kit.say(found.length ? `${found.length} voters have these ranks, in one command.` : 'Nobody has these ranks.');
        }, 'quiet')),
      range, boards, below);
    const look = async () => show(await kit.get(`/api/leaderboard?voter=${encodeURIComponent(kit.visitor)}`));
    await look();
    kit.every(3000, look);
  },
};
