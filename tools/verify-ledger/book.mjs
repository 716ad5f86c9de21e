import { ACCOUNTS, perAccount, same, sum } from './values.mjs';

/** A fault of one event, said in one sentence. */
export class Fault extends Error {}
const demand = (condition, sentence) => {
  if (!condition) throw new Fault(sentence);
};
const credits = (value) => {
  demand(Number.isSafeInteger(value) && value > 0, 'an amount is not a positive whole number');
  return value;
};

/** A book, derived again from the facts. Until it has seen everything from the start or a closed month, it does not
 * know what grants and holds there are, and checks accounts only. */
export class Book {
  constructor(opening, knowsAll) {
    this.accounts = perAccount((account) => opening[account] ?? 0);
    this.month = { opening: { ...this.accounts }, totals: perAccount(() => ({ debit: 0, credit: 0 })) };
    this.totals = perAccount(() => ({ debit: 0, credit: 0 }));
    this.knowsAll = knowsAll;
    this.grants = new Map();
    this.holds = new Map();
    this.settled = new Set();
    this.causes = new Set();
    this.period = null;
  }

  /** Carries out one event and answers its postings. @throws Fault */
  see({ type, data, occurredAt, stream }, first) {
    demand((type === 'BookOpened') === first, 'a book is opened by its first event and no other');
    // An entry after a month that a wrong clock closed too early has its true date, and may be of an earlier month.
    const month = String(occurredAt).slice(0, 7);
    if (type === 'PeriodClosed') demand(month > data.period, 'a month is closed before it is over');
    const postings = [];
    const move = (from, to, amount) =>
      postings.push({ account: from, amount: -credits(amount) }, { account: to, amount });
    switch (type) {
      case 'BookOpened':
        demand(stream === `credits-${data.workspaceId}`, 'the book belongs to another workspace');
        this.period = data.period;
        break;
      case 'PlanGranted':
      case 'PackPurchased':
        move(type === 'PlanGranted' ? 'issued:plan' : 'issued:pack', 'available', data.credits);
        this.grant(data.grantId, data.credits);
        break;
      case 'CreditsAdjusted':
        this.allocated(data.allocations, data.amount);
        if (data.amount > 0) {
          move('adjusted', 'available', data.amount);
          this.grant(`adjustment:${data.adjustmentId}`, data.amount);
        } else {
          move('available', 'adjusted', -data.amount);
          for (const { grantId, amount } of data.allocations) this.change(grantId, amount, 0);
        }
        break;
      case 'CreditsReserved':
        this.allocated(data.allocations, data.amount);
        move('available', 'held', data.amount);
        demand(!this.holds.has(data.reservationId), 'a reservation is held twice');
        this.holds.set(data.reservationId, data);
        for (const { grantId, amount } of data.allocations) this.change(grantId, -amount, amount);
        break;
      case 'CreditsCaptured': {
        move('held', 'consumed', data.amount);
        demand(!this.causes.has(data.causeEventId), 'one cause is captured twice');
        this.causes.add(data.causeEventId);
        for (const { grantId, amount } of this.settle(data)) this.change(grantId, 0, -amount);
        break;
      }
      case 'CreditsReleased':
        this.allocated(data.allocations, data.amount);
        this.settle(data);
        for (const { grantId, amount, to } of data.allocations) {
          demand(to === 'available' || to === 'expired', 'credits are released to no known account');
          move('held', to, amount);
          this.change(grantId, to === 'available' ? amount : 0, -amount);
        }
        break;
      case 'GrantExpired':
        move('available', 'expired', data.amount);
        this.change(data.grantId, -data.amount, 0);
        break;
      case 'PeriodClosed':
        this.close(data);
        break;
      case 'SubscriptionStarted':
      case 'SubscriptionChanged':
      case 'SubscriptionCancelled':
        break;
      default:
        throw new Fault(`there is no event ${type}`);
    }
    this.post(postings);
    return postings;
  }

  post(postings) {
    for (const { account, amount } of postings) {
      this.accounts[account] += amount;
      for (const totals of [this.totals, this.month.totals]) {
        totals[account][amount < 0 ? 'debit' : 'credit'] += Math.abs(amount);
      }
    }
    const { available, held } = this.accounts;
    demand(available >= 0 && held >= 0, 'credits are negative');
    demand(sum(ACCOUNTS, (account) => this.accounts[account]) === 0, 'the accounts do not sum to zero');
    if (!this.knowsAll) return;
    const grants = [...this.grants.values()];
    demand(
      sum(grants, ({ remaining }) => remaining) === available,
      'the grants left are not what is available',
    );
    demand(sum(grants, (grant) => grant.held) === held, 'what grants hold is not what is held');
    demand(
      sum([...this.holds.values()], ({ amount }) => amount) === held,
      'the open holds are not what is held',
    );
  }

  allocated(allocations, amount) {
    demand(Array.isArray(allocations), 'allocations are missing');
    demand(sum(allocations, (one) => one.amount) === amount, 'allocations do not sum to the amount');
  }

  grant(grantId, amount) {
    demand(!this.grants.has(grantId), 'a grant is granted twice');
    this.grants.set(grantId, { credits: amount, remaining: amount, held: 0 });
  }

  change(grantId, remaining, held) {
    if (!this.knowsAll) return;
    const grant = this.grants.get(grantId);
    demand(grant !== undefined, `there is no grant ${grantId} with credits`);
    grant.remaining += remaining;
    grant.held += held;
    const within = grant.remaining >= 0 && grant.held >= 0 && grant.remaining + grant.held <= grant.credits;
    demand(within, `the grant ${grantId} is out of its bounds`);
    if (grant.remaining + grant.held === 0) this.grants.delete(grantId);
  }

  settle({ reservationId, amount }) {
    demand(!this.settled.has(reservationId), 'a reservation settles twice');
    this.settled.add(reservationId);
    const hold = this.holds.get(reservationId);
    this.holds.delete(reservationId);
    if (!this.knowsAll) return [];
    demand(hold !== undefined, 'what is settled was not held');
    demand(hold.amount === amount, 'more or less is settled than was held');
    return hold.allocations;
  }

  close(data) {
    if (this.period) demand(data.period === this.period, 'another month is closed than was open');
    demand(same(data.closing, this.accounts), 'the closing balances are not the accounts');
    if (this.knowsAll) {
      demand(same(data.opening, this.month.opening), 'the opening balances are not the last closing');
      demand(same(data.totals, this.month.totals), 'the totals are not the turnover of the month');
      demand(
        same(data.openGrants.map(bare), [...this.grants].map(withId)),
        'the open grants are not the book’s',
      );
      const holds = [...this.holds.values()].sort((a, b) => (a.reservationId < b.reservationId ? -1 : 1));
      demand(same(data.openHolds, holds), 'the open holds are not the book’s');
    }
    this.grants = new Map(data.openGrants.map((grant) => [grant.grantId, { ...grant }]));
    this.holds = new Map(data.openHolds.map((hold) => [hold.reservationId, hold]));
    this.month = { opening: { ...this.accounts }, totals: perAccount(() => ({ debit: 0, credit: 0 })) };
    this.knowsAll = true;
    const [year, index] = data.period.split('-').map(Number);
    this.period = new Date(Date.UTC(year, index, 1)).toISOString().slice(0, 7);
  }
}

const bare = ({ grantId, credits: granted, remaining, held }) => ({
  grantId,
  credits: granted,
  remaining,
  held,
});
const withId = ([grantId, grant]) => bare({ grantId, ...grant });
