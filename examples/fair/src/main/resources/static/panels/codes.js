const BROWSERS = 50;
const SAID = {
  COUNTED: 'Your vote counts. The code is used up.',
  ALREADY_USED: 'This code has voted before. It counts once.',
  NEVER_ISSUED: 'The filter knows that this code was never issued.',
  FALSE_POSITIVE: 'The filter admitted it, and the full check did not.',
};

export default {
  id: 'codes',
  title: 'Voting codes',
  article: '004 section 6',
  lead: 'A code votes once. A Bloom filter stops nearly all guesses, and a full check stops the others.',
  config: `filter = redisson.getBloomFilter("fair:{codes}:filter");
filter.tryInit(5_000, 0.01);

if (!filter.contains(code)) return NEVER_ISSUED;
-- a script: the full check, then the vote, which uses the code up
if redis.call('SISMEMBER', 'fair:{codes}:issued', code) == 0 then return -1 end
return redis.call('HSETNX', 'fair:{codes}:votes', code, candidate)`,
  async mount(element, kit) {
    const numbers = document.createElement('div');
    const code = kit.field('code', '', { autocomplete: 'off', spellcheck: false, maxLength: 40 });
    const candidate = document.createElement('label');
    const select = document.createElement('select');
    candidate.className = 'field';
    ['Ada', 'Ben', 'Cleo', 'Dan'].forEach((name) => select.append(new Option(name)));
    candidate.append('candidate', select);
    const ballot = () => ({ code: code.input.value.trim(), candidate: select.value });
    const show = (view) => {
      numbers.replaceChildren(kit.numbers({
        'codes issued': `${view.issued} of ${view.room}`,
        'bytes of filter': view.filterBytes,
        'bits looked at': view.hashes,
        'false positives promised': `${view.promised * 100} %`,
        votes: Object.entries(view.tally).map(([name, votes]) => `${name} ${votes}`).join(', ') || 'none',
      }));
    };
    const look = async () => show(await kit.get('/api/codes'));
    element.append(
      kit.row(
        kit.button('Get a code', async () => {
          code.input.value = (await kit.post('/api/codes/issue')).code;
          await look();
          kit.say(`Your code is ${code.input.value}.`);
        }),
        code, candidate,
        kit.button('Vote', async () => {
          const { outcome } = await kit.post('/api/codes/vote', ballot());
          await look();
          kit.say(SAID[outcome], outcome === 'COUNTED' ? 'good' : 'bad');
        })),
      kit.row(
        kit.breaks(`Same code, ${BROWSERS} browsers`, async () => {
          if (!code.input.value) { code.input.value = (await kit.post('/api/codes/issue')).code; }
          const answers = await Promise.allSettled(Array.from({ length: BROWSERS }, () => kit.post('/api/codes/vote', ballot())));
          const count = (outcome) => answers.filter(({ value }) => value && value.outcome === outcome).length;
          const limited = answers.filter(({ reason }) => reason && reason.status === 429).length;
          await look();
          kit.say(`${BROWSERS} votes with one code: ${count('COUNTED')} counted, ${count('ALREADY_USED')} refused as used${limited ? `, ${limited} stopped by the limiter` : ''}.`);
        }),
        kit.breaks('Guess 5,000 codes', async () => {
          const { guesses, passedFilter, counted } = await kit.post('/api/codes/guess');
          kit.say(`${guesses} guesses: the filter admitted ${passedFilter} (${(100 * passedFilter / guesses).toFixed(2)} %), and ${counted} of them voted.`);
        }),
        kit.button('Fill the filter', async () => {
          show(await kit.post('/api/codes/fill'));
          kit.say('The filter is full. Guess again: now about 1 % gets through it, and no vote.');
        }),
        kit.button('Begin again', async () => {
          await kit.post('/api/codes/clear');
          code.input.value = '';
          await look();
        }, 'quiet')),
      numbers);
    await look();
  },
};
