export default {
  id: 'sale',
  title: 'Ticket sale',
  article: '000 and 004 section 7',
  lead: 'A hundred tickets for the result show, one each. What is not paid within 30 seconds goes back, and nothing is ever sold twice.',
  config: `limiter.policies.sale:
  limits: 100 allotment each 1 hold 30s closes 2099-12-31T23:00:00Z

Charge order = new Charge(
    limiter.policy("sale"), PartitionKey.global(), 1, orderId, PartitionKey.of(visitor));
Decision bought = rateLimiter.tryAcquire(List.of(order));   // the same id: the same answer
boolean paid = rateLimiter.confirm(bought);                 // false: the hold has run out`,
  async mount(element, kit) {
    const bar = document.createElement('div');
    bar.className = 'bar';
    const sold = Object.assign(document.createElement('div'), { className: 'sold' });
    const held = Object.assign(document.createElement('div'), { className: 'held' });
    const left = document.createElement('div');
    bar.append(sold, held, left);
    const numbers = document.createElement('div');
    const mine = document.createElement('p');
    const show = async () => {
      const view = await kit.get(`/api/sale?visitor=${encodeURIComponent(kit.visitor)}`);
      sold.style.flexGrow = view.sold;
      held.style.flexGrow = view.held;
      left.style.flexGrow = view.left;
      numbers.replaceChildren(kit.numbers({ 'left': view.left, 'held, not yet paid': view.held, 'paid': view.sold }));
      mine.textContent = {
        none: 'You have no ticket.',
        held: `A ticket is held for you for ${view.heldSeconds} s. Pay, or it goes back.`,
        paid: 'Your ticket is paid. The queue of orders prints it.',
      }[view.mine];
    };
    const who = () => ({ visitor: kit.visitor });
    const REASONS = { 'sold-out': 'Sold out.', 'already-had': 'You already had one.', closed: 'The sale is over.' };
    const describe = ({ bought, reason }) => (bought ? 'A ticket is held for you.' : REASONS[reason] || `Not now: ${reason}.`);
    element.append(
      numbers, bar, mine,
      kit.row(
        kit.button('Take a ticket', async () => { kit.say(describe(await kit.post('/api/sale/buy', who()))); await show(); }),
        kit.button('Pay', async () => {
          const { paid } = await kit.post('/api/sale/pay', who());
          kit.say(paid ? 'Paid. The order is on its way.' : 'There is nothing to pay: take a ticket first.');
          await show();
        }),
        kit.breaks('Double-click', async () => {
          const before = (await kit.get(`/api/sale?visitor=${encodeURIComponent(kit.visitor)}`)).left;
          const clicks = await Promise.all([1, 2].map(() => kit.post('/api/sale/buy', who())));
          const after = (await kit.get(`/api/sale?visitor=${encodeURIComponent(kit.visitor)}`)).left;
          kit.say(`Two clicks at once: ${clicks.map(describe).join(' ')} Taken from the stock: ${before - after}.`);
          await show();
        }),
        kit.breaks('Rush of 200 visitors', async () => {
          const { attempts, tickets, soldOut, alreadyHad, failed } = await kit.post('/api/sale/rush', { visitors: 200 });
          kit.say(`200 visitors clicked twice, ${attempts} clicks: ${tickets} tickets, ${alreadyHad} had one already, ${soldOut} found it sold out${failed ? `, ${failed} without an answer` : ''}.`);
          await show();
        }),
        kit.button('Next evening', async () => { await kit.post('/api/sale/reset'); kit.say('All tickets are there again.'); await show(); }, 'quiet')));
    await show();
    kit.every(1000, show);
  },
};
