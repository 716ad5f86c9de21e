#!/usr/bin/env node
/**
 * Verifies an export of a credit ledger from the file alone: hash chain, revisions, double entry, balances, grants,
 * holds, closed months, totals; and a signed seal when one is given. Needs Node 20 or newer and nothing else: it shares
 * no code with the service that wrote the export.
 *
 *   node verify-ledger.mjs EXPORT.jsonl [--seal SEAL.json --public-key KEY.pem] [--json]
 *
 * Exit code 0 when nothing was found, 1 on any finding or when a file cannot be read.
 */
import { Buffer } from 'node:buffer';
import { createHash, createPublicKey, verify } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

const ACCOUNTS = ['issued:plan', 'issued:pack', 'adjusted', 'available', 'held', 'consumed', 'expired'];

const sha256 = (...parts) =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest('hex');

/** JSON with members sorted by UTF-16 code units and no white space (RFC 8785 for what a ledger holds). */
const canonical = (value) => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const names = Object.keys(value).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(',')}}`;
};
const same = (a, b) => canonical(a ?? null) === canonical(b ?? null);

const perAccount = (value) => Object.fromEntries(ACCOUNTS.map((account) => [account, value(account)]));
const sum = (items, amount) => items.reduce((total, item) => total + amount(item), 0);

/** A fault of one event, said in one sentence. */
class Fault extends Error {}
const demand = (condition, sentence) => {
  if (!condition) throw new Fault(sentence);
};
const credits = (value) => {
  demand(Number.isSafeInteger(value) && value > 0, 'an amount is not a positive whole number');
  return value;
};

/** A book, derived again from the facts. Until it has seen everything from the start or a closed month, it does not
 * know what grants and holds there are, and checks accounts only. */
class Book {
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
    const month = String(occurredAt).slice(0, 7);
    if (type === 'PeriodClosed') demand(month > data.period, 'a month is closed before it is over');
    else if (this.period) demand(month >= this.period, 'dated in a month that was closed before');
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

/** Reads the lines of an export in order and collects what is wrong with them. */
class Verifier {
  findings = [];
  events = 0;
  postings = 0;
  /** Rows still to come for the last event. */
  expected = [];
  closedMonths = new Map();

  find(revision, sentence) {
    this.findings.push({ revision: String(revision), message: sentence });
  }

  line(text, number) {
    let value;
    try {
      value = JSON.parse(text);
    } catch {
      return this.find(this.next ?? 0n, `line ${number} is not JSON`);
    }
    if (this.footer) return this.find(this.next, `line ${number} stands after the footer`);
    if (value?.kind === 'header' && !this.header) return this.begin(value);
    if (!this.header)
      throw new Error('This is no ledger export: make one with ops ledger export --format jsonl.');
    try {
      this.read(value);
    } catch {
      this.find(this.next, `line ${number} is malformed`);
    }
  }

  read(value) {
    if (value.kind === 'event') this.event(value);
    else if (value.kind === 'posting') this.posting(value);
    else if (value.kind === 'footer') this.end(value);
    else throw new Fault('unknown kind');
  }

  begin(header) {
    if (header.format !== 'credit-ledger-export/1') throw new Error(`Unknown format ${header.format}.`);
    this.header = header;
    this.next = BigInt(header.firstRevision ?? 0);
    this.chain = header.previousChain;
    const whole = this.next === 0n;
    if (
      whole &&
      !same(
        header.opening,
        perAccount(() => 0),
      )
    )
      this.find(0, 'a book begins with nothing');
    if (whole && header.firstRevision !== null && !/^0{64}$/.test(this.chain)) {
      this.find(0, 'a chain begins with 64 zeros');
    }
    this.book = new Book(header.opening, whole);
    this.trusted = true;
  }

  event({ facts, chain }) {
    this.allPosted();
    const revision = BigInt(facts.revision);
    if (revision !== this.next) this.find(this.next, `revision ${revision} stands where this one belongs`);
    if (facts.stream !== this.header.stream) this.find(revision, 'the event is of another stream');
    if (chain !== sha256(this.chain, canonical(facts)))
      this.find(revision, 'the chain value does not fit the event');
    this.chain = String(chain);
    this.next = revision + 1n;
    this.events += 1;
    if (facts.type === 'PeriodClosed') this.closedMonths.set(facts.data?.period, { facts, chain });
    if (!this.trusted) return;
    try {
      const postings = this.book.see(facts, revision === 0n);
      this.expected = postings.map(({ account, amount }, index) => ({
        revision: facts.revision,
        line: index + 1,
        account,
        debit: Math.max(0, -amount),
        credit: Math.max(0, amount),
        availableAfter: this.book.accounts.available,
        heldAfter: this.book.accounts.held,
      }));
    } catch (error) {
      // What follows from a fault would hide it: from here on only revisions and chain are checked.
      this.trusted = false;
      this.find(revision, error instanceof Fault ? error.message : 'the event cannot be read');
    }
  }

  /** `grantId` is there for readers; grants are checked from the facts. */
  posting(row) {
    this.postings += 1;
    if (!this.trusted) return;
    const expected = this.expected.shift();
    const matches = expected && Object.keys(expected).every((name) => same(row[name], expected[name]));
    if (!matches) this.find(row.revision, 'a posting row does not follow from its event');
  }

  allPosted() {
    if (this.trusted && this.expected.length > 0)
      this.find(this.next - 1n, 'posting rows of the event are missing');
    this.expected = [];
  }

  end(footer) {
    this.allPosted();
    this.footer = footer;
    const last = this.events === 0 ? null : String(this.next - 1n);
    const demandEnd = (right, sentence) => right || this.find(last ?? 0, sentence);
    demandEnd(footer.events === this.events, 'the footer counts other events');
    demandEnd(footer.postings === this.postings, 'the footer counts other postings');
    demandEnd(footer.headRevision === last, 'the footer names another last revision');
    demandEnd(footer.headHash === this.chain, 'the footer names another head hash');
    if (!this.trusted) return;
    demandEnd(same(footer.totals, this.book.totals), 'the footer’s totals are not the turnover');
    demandEnd(same(footer.closing, this.book.accounts), 'the footer’s closing balances are not the accounts');
  }

  /** The signature must be the key's, and the month it seals must stand in the export as it was sealed. */
  seal({ signature, ...manifest }, publicKey) {
    const at = manifest.revision;
    const der = publicKey.export({ type: 'spki', format: 'der' });
    const signed = verify(
      null,
      Buffer.from(canonical(manifest)),
      publicKey,
      Buffer.from(String(signature), 'base64'),
    );
    if (!signed) this.find(at, 'the seal is not signed with this key');
    if (manifest.publicKeySha256 !== sha256(der)) this.find(at, 'the seal names another key');
    if (manifest.workspaceId !== this.header.workspaceId) this.find(at, 'the seal is of another workspace');
    const closed = this.closedMonths.get(manifest.period);
    if (!closed) return this.find(at, `the sealed month ${manifest.period} is not closed in the export`);
    const { facts, chain } = closed;
    if (chain !== manifest.headHash) this.find(at, 'the sealed head hash is another: history was rewritten');
    if (facts.revision !== at) this.find(at, 'the month was closed at another revision');
    if (facts.eventId !== manifest.eventId) this.find(at, 'the month was closed by another event');
    if (!same(facts.data.closing, manifest.closing)) this.find(at, 'the sealed closing balances are others');
  }

  /** @throws Error when the file is no export */
  result(sealed) {
    if (!this.header) throw new Error('This is no ledger export: the file is empty.');
    if (!this.footer) this.find(this.next, 'the export ends without its footer');
    const revisions = this.findings.map(({ revision }) => BigInt(revision));
    const firstBad = revisions.reduce((first, one) => (first === null || one < first ? one : first), null);
    return {
      ok: this.findings.length === 0,
      workspaceId: this.header.workspaceId,
      events: this.events,
      postings: this.postings,
      firstRevision: this.header.firstRevision,
      headRevision: this.events === 0 ? null : String(this.next - 1n),
      headHash: this.chain,
      balances: this.trusted ? this.book.accounts : null,
      sealedPeriod: sealed?.period ?? null,
      firstBadRevision: firstBad === null ? null : String(firstBad),
      findings: this.findings,
    };
  }
}

const describe = (result) => {
  const { workspaceId, events, postings, headHash, balances, firstRevision, firstBadRevision } = result;
  if (!result.ok) {
    const lines = result.findings.map(({ revision, message }) => `  revision ${revision}: ${message}`);
    return [`${workspaceId}: first bad revision ${firstBadRevision}`, ...lines].join('\n');
  }
  return [
    `${workspaceId}: ${events} events and ${postings} postings are right; head hash ${headHash}`,
    ...ACCOUNTS.map((account) => `  ${account.padEnd(12)} ${String(balances[account]).padStart(10)}`),
    ...(result.sealedPeriod ? [`  as sealed for ${result.sealedPeriod}`] : ['  no seal was checked']),
    ...(firstRevision === '0' ? [] : [`  what is before revision ${firstRevision} is not in this export`]),
  ].join('\n');
};

const run = async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seal: { type: 'string' },
      'public-key': { type: 'string' },
      json: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  const usage = 'Usage: verify-ledger.mjs EXPORT.jsonl [--seal SEAL.json --public-key KEY.pem] [--json]';
  if (values.help) return console.log(usage);
  if (positionals.length !== 1) throw new Error(usage);
  if ((values.seal === undefined) !== (values['public-key'] === undefined)) {
    throw new Error('A seal is checked against a public key: give both --seal and --public-key.');
  }
  const seal = values.seal && JSON.parse(readFileSync(values.seal, 'utf8'));
  const publicKey = seal && createPublicKey(readFileSync(values['public-key']));
  const verifier = new Verifier();
  let number = 0;
  const input = createReadStream(positionals[0]);
  await new Promise((resolve, reject) => input.once('open', resolve).once('error', reject));
  for await (const text of createInterface({ input, crlfDelay: Infinity }))
    verifier.line(text, (number += 1));
  if (seal && verifier.header) verifier.seal(seal, publicKey);
  const result = verifier.result(seal);
  console.log(values.json ? JSON.stringify(result) : describe(result));
  if (!result.ok) process.exitCode = 1;
};

try {
  await run();
} catch (error) {
  console.error(error.code === 'ENOENT' ? `There is no file ${error.path}.` : error.message);
  process.exitCode = 1;
}
