#!/usr/bin/env node
/**
 * Verifies a credit ledger from files alone. One file, read top to bottom: what the auditor reads is what runs. It needs
 * Node 20 or newer and shares no code with the service that wrote the files.
 *
 *   node verify-ledger.mjs EXPORT.jsonl [--operators FILE] [--json]
 *   node verify-ledger.mjs --month FOLDER --public-key KEY.pem [EXPORT.jsonl] [--operators FILE] [--json]
 *
 * An export: hash chain, revisions, double entry, balances, grants, holds, closed months, value in money, totals, and
 * the exact text of every line. --operators: the setting OPERATORS, whose keys must have signed each correction.
 * --month: the unpacked archive of a month with its seals, their Merkle root, sums, file hashes and signature; the export
 * must agree with its seal. --handover: a key that an older key signed.
 *
 * Exit code 0 when nothing was found, 1 on any finding or when a file cannot be read.
 *
 * Contents: 1 values, 2 text, 3 the book, 4 the export, 5 seals, 6 a month, 7 the command.
 */
import { Buffer } from 'node:buffer';
import { createHash, createPublicKey, verify as verifySignature } from 'node:crypto';
import { closeSync, openSync, readFileSync, readSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { TextDecoder, parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';

// ---- 1. Values: how they are compared, hashed and added ----

const ACCOUNTS = ['issued:plan', 'issued:pack', 'adjusted', 'available', 'held', 'consumed', 'expired'];
const CHAIN_START = '0'.repeat(64);

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
const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);

const byText = (a, b) => (a < b ? -1 : 1);

const perAccount = (value) => Object.fromEntries(ACCOUNTS.map((account) => [account, value(account)]));
const sum = (items, amount) => items.reduce((total, item) => total + amount(item), 0);

const MONEY = ['opening', 'sales', 'earned', 'breakage', 'corrections', 'refunds', 'closing'];
const noMoney = () => Object.fromEntries(MONEY.map((name) => [name, 0]));
const CURRENCY = 'USD';
/** Deferred value: opening + sales − earned − breakage − corrections − refunds = closing. */
const addsUp = ({ opening, sales, earned, breakage, corrections, refunds }, closing) =>
  opening + sales - earned - breakage - corrections - refunds === closing;
const ADDS_UP = 'deferred opening + sales − earned − breakage − corrections − refunds is not closing';

/** The first member, as a path, in which two values differ. */
const difference = (given, right, path = '') => {
  if (!isObject(given) || !isObject(right)) return path;
  const name = [...new Set([...Object.keys(right), ...Object.keys(given)])].find(
    (one) => !(one in given) || !(one in right) || JSON.stringify(given[one]) !== JSON.stringify(right[one]),
  );
  if (name === undefined) return path;
  return difference(given[name], right[name], path === '' ? name : `${path}.${name}`);
};

// ---- 2. Text: one JSON value a line, in the one form that the export has ----

/** A fault, said in one sentence, with the member where it shows, and the line if the member does not tell it. */
class Fault extends Error {
  constructor(field, sentence, line) {
    super(sentence);
    this.field = field;
    this.line = line;
  }
}
const demand = (condition, field, sentence) => {
  if (!condition) throw new Fault(field, sentence);
};

/** The same for a member of an event's data. */
const demandMember = (condition, member, sentence) => demand(condition, `facts.data.${member}`, sentence);

/** The member around a place in a line. */
const memberAt = (text, place) => {
  let name = '';
  for (const match of text.matchAll(/"((?:[^"\\]|\\.)*)":/g)) if (match.index <= place + 1) name = match[1];
  return name;
};

/**
 * A line's value, and a fault when its text is not what JSON.stringify prints: that form has no white space, one way to
 * write a number, and no repeated member. @throws Fault when it has no value
 */
const parseLine = (text) => {
  demand(!/^\W*record\W+revision/.test(text), 'kind', 'this is a CSV export: the chain is in jsonl');
  let value;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    throw new Fault('kind', text.trim() === '' ? 'the line is blank' : 'the line is not JSON');
  }
  const printed = JSON.stringify(value);
  if (printed === text) return { value, fault: null };
  if (text.startsWith('\uFEFF'))
    return { value, fault: new Fault('text', 'the line starts with a byte order mark') };
  if (text.endsWith('\r'))
    return { value, fault: new Fault('text', 'the line ends with CR LF, an export with LF') };
  let place = 0;
  while (text[place] === printed[place]) place += 1;
  const message = 'the member is repeated, or not written as an export writes it';
  return { value, fault: new Fault(memberAt(text, place), message) };
};

/** The one value of a text. @throws Fault when it is no object */
const objectIn = (text) => {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Fault('text', 'this is not JSON');
  }
  demand(isObject(value), 'text', 'the file has no JSON object');
  return value;
};

/** The line of an indented text that has the member, which may be a path; else the first. */
const lineOf = (text, path) => {
  const name = `${JSON.stringify(path.split('.').at(-1))}:`;
  const index = text.split('\n').findIndex((line) => line.trimStart().startsWith(name));
  return 1 + Math.max(0, index);
};

/** The bytes of a file, in parts. */
function* partsOf(path) {
  const file = openSync(path, 'r');
  try {
    for (;;) {
      const bytes = Buffer.alloc(1 << 20);
      const count = readSync(file, bytes);
      if (count === 0) return;
      yield bytes.subarray(0, count);
    }
  } finally {
    closeSync(file);
  }
}

/** Lines without their ends. @throws Fault at text that is not UTF-8, or that does not end with a line end */
export function* linesIn(parts) {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let rest = '';
  try {
    for (const part of parts) {
      const lines = (rest + decoder.decode(part, { stream: true })).split('\n');
      rest = lines.pop();
      yield* lines;
    }
    decoder.decode();
  } catch (error) {
    if (error instanceof Fault || error.code !== 'ERR_ENCODING_INVALID_ENCODED_DATA') throw error;
    throw new Fault('text', 'the next line, or one after it, is not UTF-8');
  }
  if (rest === '') return;
  yield rest;
  throw new Fault('text', 'the last line has no line end: the file was cut');
}

// ---- 3. The book, derived again from the facts ----

/** Members of each event's data. `?`: it may be absent. */
const EVENTS = {
  BookOpened: 'workspaceId period',
  SubscriptionStarted: 'subscriptionId plan anchorDay startedAt approvalRef actor',
  SubscriptionChanged: 'subscriptionId previousPlan plan approvalRef effectiveAt actor',
  SubscriptionCancelled: 'subscriptionId plan effectiveAt reference actor',
  PlanGranted: 'grantId plan credits validFrom expiresAt priceCents',
  PackPurchased: 'grantId pack orderRef credits priceCents actor',
  CreditsReserved: 'reservationId readingId amount allocations',
  CreditsCaptured: 'reservationId readingId amount causeEventId',
  CreditsReleased: 'reservationId readingId amount allocations causeEventId',
  GrantExpired: 'grantId amount expiredAt',
  CreditsAdjusted:
    'adjustmentId amount allocations reason approvedBy reversesEventId expiresAt? reference actor correctionId? signed? restores? counts?',
  PeriodCarried: 'period part openGrants openHolds settled orderRefs adjustmentIds',
  PeriodClosed:
    'workspaceId period opening totals closing subscription subscriptions openGrants openHolds settled orderRefs adjustmentIds eventCount carried',
};

/** The members that an event has, and those that it may have. */
const MEMBERS = Object.fromEntries(
  Object.entries(EVENTS).map(([type, members]) => {
    const names = members.split(' ');
    const optional = names.filter((name) => name.endsWith('?')).map((name) => name.slice(0, -1));
    return [type, { required: names.filter((name) => !name.endsWith('?')), optional }];
  }),
);

const isText = (value) => typeof value === 'string';
const isSomeText = (value) => isText(value) && value !== '';
const isSha256 = (value) => isText(value) && /^[0-9a-f]{64}$/.test(value);
const isWhole = (value) => Number.isSafeInteger(value);
const isCount = (value) => isWhole(value) && value >= 0;
const isPositive = (value) => isWhole(value) && value > 0;
const isDayOfMonth = (value) => isPositive(value) && value <= 31;
const isMonth = (value) => isText(value) && /^\d{4}-(0[1-9]|1[0-2])$/.test(value);
const isInstant = (value) =>
  isText(value) &&
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value) &&
  !Number.isNaN(Date.parse(value)) &&
  new Date(value).toISOString() === value;
const isOneOf =
  (...values) =>
  (value) =>
    values.includes(value);
const isListOf = (isOne) => (value) => Array.isArray(value) && value.every((one) => isOne(one));
const isSomeTexts = (value) => isListOf(isText)(value) && value.length > 0;
const isNullOr = (isOne) => (value) => value === null || isOne(value);
/** An object with these members and no others, but for those that it may have. */
const hasMembers =
  (required, optional = {}) =>
  (value) =>
    isObject(value) &&
    Object.entries(required).every(([name, isRight]) => Object.hasOwn(value, name) && isRight(value[name])) &&
    Object.keys(value).every(
      (name) =>
        Object.hasOwn(required, name) || (Object.hasOwn(optional, name) && optional[name](value[name])),
    );

/** What is wrong with the members of an object, as the member and a sentence; `null`: they are these, with values that they can have. */
const shapeFault = (value, shapes) => {
  const names = [...Object.keys(shapes), ...Object.keys(value)];
  const odd = names.find((name) => !Object.hasOwn(shapes, name) || !Object.hasOwn(value, name));
  if (odd !== undefined) return [odd, 'the member is missing or unknown'];
  const wrong = Object.keys(shapes).find((name) => !shapes[name](value[name]));
  return wrong === undefined ? null : [wrong, 'the value is not one that the member can have'];
};

const ALLOCATION = { grantId: isText, amount: isPositive };
const HOLD = {
  reservationId: isText,
  readingId: isText,
  amount: isPositive,
  allocations: isListOf(hasMembers(ALLOCATION)),
};
const GRANT = {
  grantId: isText,
  kind: isOneOf('plan', 'pack', 'adjustment'),
  credits: isPositive,
  remaining: isCount,
  held: isCount,
  expiresAt: isNullOr(isInstant),
  priceCents: isCount,
};
const isSubscription = hasMembers(
  { subscriptionId: isText, plan: isText, anchorDay: isDayOfMonth, nextGrantAt: isInstant },
  { nextPlan: isText, endsAt: isInstant },
);

/** What each member must be. `<event>.<member>` where an event differs. */
const SHAPES = Object.fromEntries(
  [
    [isText, 'workspaceId subscriptionId plan previousPlan pack grantId orderRef adjustmentId correctionId'],
    [isText, 'reservationId readingId causeEventId'],
    [isText, 'actor CreditsAdjusted.reference'],
    [isNullOr(isText), 'approvalRef reference reversesEventId'],
    [isSomeText, 'reason approvedBy'],
    [isMonth, 'period'],
    [isInstant, 'startedAt validFrom expiresAt expiredAt effectiveAt'],
    [isDayOfMonth, 'anchorDay'],
    [isPositive, 'credits amount'],
    [isWhole, 'CreditsAdjusted.amount'],
    [isCount, 'priceCents subscriptions eventCount part'],
    [isNullOr(hasMembers({ parts: isPositive, digest: isSha256 })), 'carried'],
    [HOLD.allocations, 'allocations'],
    [isListOf(hasMembers({ grantId: isText, amount: isWhole })), 'CreditsAdjusted.allocations'],
    [
      isListOf(hasMembers({ ...ALLOCATION, to: isOneOf('available', 'expired') })),
      'CreditsReleased.allocations',
    ],
    [hasMembers({ grantId: isNullOr(isText), proposer: isText, approver: isText }), 'signed'],
    [hasMembers({ grantIds: isSomeTexts, priceCents: isCount }), 'restores'],
    [hasMembers({ as: isOneOf('refunds', 'earned', 'breakage'), of: isSomeText }), 'counts'],
    [hasMembers(perAccount(() => isWhole)), 'opening closing'],
    [hasMembers(perAccount(() => hasMembers({ debit: isCount, credit: isCount }))), 'totals'],
    [isNullOr(isSubscription), 'subscription'],
    [isListOf(hasMembers(GRANT)), 'openGrants'],
    [isListOf(hasMembers(HOLD)), 'openHolds'],
    [hasMembers({ older: isListOf(isText), newer: isListOf(isText) }), 'settled'],
    [isListOf(isText), 'orderRefs adjustmentIds'],
  ].flatMap(([isRight, names]) => names.split(' ').map((name) => [name, isRight])),
);

/** Why no reader of the book understands an event, as the member and a sentence. `null`: it can be read. */
export const unreadableBecause = ({ type, schemaVersion, stream, data }) => {
  if (!Object.hasOwn(EVENTS, type)) return ['facts.type', `there is no event ${type}`];
  if (schemaVersion !== 1) return ['facts.schemaVersion', `there is no version ${schemaVersion} of ${type}`];
  if (!isObject(data)) return ['facts.data', 'the data is no object'];
  const { required, optional } = MEMBERS[type];
  const odd =
    required.find((name) => !Object.hasOwn(data, name)) ??
    Object.keys(data).find((name) => !required.includes(name) && !optional.includes(name));
  if (odd !== undefined) return [`facts.data.${odd}`, 'the member is missing or unknown'];
  const isRight = (name) => (SHAPES[`${type}.${name}`] ?? SHAPES[name])(data[name]);
  const wrong = Object.keys(data).find((name) => !isRight(name));
  if (wrong !== undefined) return [`facts.data.${wrong}`, 'the value is not one that the member can have'];
  const isForeign = 'workspaceId' in data && stream !== `credits-${data.workspaceId}`;
  return isForeign ? ['facts.data.workspaceId', 'the book belongs to another workspace'] : null;
};

/** Plans and packs sold so far, with all terms that they ever had: credits, and their price in cents. */
export const TERMS_SOLD = {
  studio: [{ credits: 400, priceCents: 14_900 }],
  pro: [{ credits: 2_000, priceCents: 39_900 }],
  growth: [{ credits: 10_000, priceCents: 119_000 }],
  access_local: [{ credits: 100, priceCents: 4_900 }],
  flex: [{ credits: 50, priceCents: 2_900 }],
  sprint: [{ credits: 200, priceCents: 9_900 }],
  campaign: [{ credits: 500, priceCents: 19_900 }],
  burst: [{ credits: 2_000, priceCents: 69_900 }],
};

/** An entry may name others: this file then does not know whether it can be read. */
const isSold = isOneOf(...Object.keys(TERMS_SOLD));
const namesKnown = ({ plan, previousPlan, pack, subscription }) =>
  [plan, previousPlan, pack, subscription?.plan, subscription?.nextPlan].every(
    (name) => name === undefined || isSold(name),
  );

/** What is wrong with the reason that a line gives for passing over its entry. `null`: the file shows nothing wrong. */
const passedOverWrongly = ({ problem, facts }) => {
  if (problem === null) return 'the entry can be read, but readers pass over it';
  if (facts !== null && unreadableBecause(facts) === null && namesKnown(facts.data))
    return 'the entry is said to be unreadable, but it can be read';
  return null;
};

/** Settled reservations are remembered in two lists. When the newer one has this many, it becomes the older one. */
const GENERATION = 2048;

/** A later release may sell on other terms: its own copy of this file knows them. */
const soldOnTerms = (sold, { credits: granted, priceCents }) =>
  demandMember(
    isSold(sold) &&
      TERMS_SOLD[sold].some((terms) => terms.credits === granted && terms.priceCents === priceCents),
    'priceCents',
    `${granted} credits for ${priceCents} cents: ${sold} was never sold on these terms`,
  );

/**
 * What the first `count` credits of a grant are worth together, in cents: price × count / credits, rounded down. So each
 * credit has ⌊price / credits⌋ cents or one more (largest remainder, spread evenly), and all have the whole price.
 */
const worth = ({ price, credits: all }, count) => Number((BigInt(price) * BigInt(count)) / BigInt(all));

/** The lists that the close of a month carries, itself or in the parts before it. */
const noItems = () => ({
  openGrants: [],
  openHolds: [],
  settled: { older: [], newer: [] },
  orderRefs: [],
  adjustmentIds: [],
});
/** Each list, and the older and the newer settled reservations as lists of their own. */
const listsOf = ({ openGrants, openHolds, settled, orderRefs, adjustmentIds }) => ({
  openGrants,
  openHolds,
  'settled.older': settled.older,
  'settled.newer': settled.newer,
  orderRefs,
  adjustmentIds,
});

/**
 * The parts that stand before a close. `digest` is the SHA-256 over them: of the digest so far (of none: the empty text)
 * and the canonical JSON of the next part's data.
 */
class Parts {
  count = 0;
  digest = '';
  items = noItems();

  add(data) {
    const own = listsOf(data);
    for (const [name, list] of Object.entries(listsOf(this.items)))
      for (const item of own[name]) list.push(item);
    this.count += 1;
    this.digest = sha256(this.digest, canonical(data));
  }
}

const monthAfter = (month) => {
  const [year, index] = String(month).split('-').map(Number);
  return new Date(Date.UTC(year, index, 1)).toISOString().slice(0, 7);
};

/**
 * The value that entries took from grants, and what their reversals say of it. An entry took U credits worth V cents; so
 * far r credits worth W came back. The next k credits bring back worth(U, V, r + k) − W. So all parts together bring back
 * V, and no more. A correction that takes credits and counts as the entry that it names does shares its value.
 */
class Reversals {
  values = new Map();
  /** Ids of several entries: a store takes an id twice. The first entry with it counts. */
  copied = new Set();

  /** @param isWhole the book is seen from its start: there are no entries from before */
  constructor(isWhole) {
    this.isWhole = isWhole;
  }

  /**
   * @param counts what corrections of the entry count as
   * @param grantId the grant that it made: only what is taken from this one takes the entry back
   * @param taken credits and cents by grant
   */
  add(eventId, counts, grantId, taken) {
    const value = { counts, grantId, grantIds: [], credits: 0, price: 0, gave: { credits: 0, cents: 0 } };
    this.take(value, taken);
    this.keep(eventId, value);
  }

  keep(eventId, value) {
    if (this.values.has(eventId)) this.copied.add(eventId);
    else this.values.set(eventId, value);
  }

  take(value, taken) {
    for (const { grantId, credits: amount, cents } of taken) {
      if (!value.grantIds.includes(grantId)) value.grantIds.push(grantId);
      value.credits += amount;
      value.price += cents;
    }
  }

  /** What came back, with the next credits. */
  gaveWith(value, amount) {
    const count = Math.min(value.gave.credits + amount, value.credits);
    const cents = count > 0 ? Math.max(value.gave.cents, worth(value, count)) : value.gave.cents;
    return { credits: count, cents };
  }

  /** What a correction must say of its value. */
  said(value, { amount, allocations }) {
    if (!value) return {};
    const { counts, grantId, grantIds, gave } = value;
    const said = counts ? { counts } : {};
    const isItsOwn = grantId === null || allocations.every((one) => one.grantId === grantId);
    if (amount < 0) return isItsOwn ? said : {};
    if (value.credits === 0) return {};
    return { restores: { grantIds, priceCents: this.gaveWith(value, amount).cents - gave.cents }, ...said };
  }

  /** Whether the entry is in the file, if it is in the book. */
  knows(eventId) {
    return this.isWhole || this.values.has(eventId);
  }

  check(data) {
    const { reversesEventId, restores, counts } = data;
    const value = reversesEventId === null ? undefined : this.values.get(reversesEventId);
    if (!value && reversesEventId !== null && !this.isWhole) return;
    const right = this.said(value, data);
    for (const [name, given] of Object.entries({ restores, counts }))
      demandMember(same(given, right[name]), name, 'this does not follow from the entry that is reversed');
  }

  /** @param grantId the grant that the correction made */
  follow(eventId, { amount, reversesEventId, counts }, grantId, taken) {
    const value = this.values.get(reversesEventId);
    const isShared = value !== undefined && amount < 0 && same(counts, value.counts);
    if (isShared) {
      this.take(value, taken);
      this.keep(eventId, value);
    } else this.add(eventId, counts ?? null, grantId, taken);
    if (value && amount > 0) value.gave = this.gaveWith(value, amount);
  }
}

/** The export of a month starts with the close of the month before: until then, the book knows no grants and holds. */
class Book {
  constructor(opening, isWhole) {
    this.accounts = perAccount((account) => opening[account]);
    this.knowsAll = isWhole;
    this.reversals = new Reversals(isWhole);
    this.grants = new Map();
    this.holds = new Map();
    this.settled = new Set();
    this.recent = { older: [], newer: [] };
    this.causes = new Set();
    this.subscription = null;
    this.subscriptions = 0;
    this.orderRefs = [];
    this.adjustmentIds = [];
    /** Events of the book before this one, without those that are passed over. */
    this.count = 0;
    this.period = null;
    this.totals = perAccount(() => ({ debit: 0, credit: 0 }));
    this.events = 0;
    /** The parts of the close that is being made; `null` outside of one. */
    this.parts = null;
    this.lastMonth = null;
    this.startMonth();
    this.range = isWhole ? noMoney() : null;
  }

  startMonth() {
    this.month = {
      opening: { ...this.accounts },
      totals: perAccount(() => ({ debit: 0, credit: 0 })),
      money: this.deferred() === null ? null : { ...noMoney(), opening: this.deferred() },
    };
  }

  /** Carries out one event whose data `unreadableBecause` finds right, and answers its postings. @throws Fault */
  see({ type, data, occurredAt, eventId }, first) {
    this.events += 1;
    demand(
      (type === 'BookOpened') === first,
      'facts.type',
      'a book is opened by its first event and no other',
    );
    const month = String(occurredAt).slice(0, 7);
    // An entry after a month that a wrong clock closed too early has its true date, and may be of an earlier month.
    if (type === 'PeriodClosed' || type === 'PeriodCarried') this.datedAfter(data, month);
    else demand(this.parts === null, 'facts.type', 'an entry stands between the parts of a closed month');
    const postings = [];
    const move = (from, to, amount) => {
      demandMember(isPositive(amount), 'amount', 'an amount is not a positive whole number');
      postings.push({ account: from, amount: -amount }, { account: to, amount });
    };
    switch (type) {
      case 'BookOpened':
        this.period = data.period;
        break;
      case 'SubscriptionStarted': {
        const { subscriptionId, plan, anchorDay, startedAt } = data;
        this.subscription = { subscriptionId, plan, anchorDay, nextGrantAt: startedAt };
        this.subscriptions += 1;
        break;
      }
      case 'SubscriptionChanged':
        this.subscription = changed(this.subscription, data);
        break;
      case 'SubscriptionCancelled':
        this.subscription = cancelled(this.subscription, data);
        break;
      case 'PlanGranted':
      case 'PackPurchased':
        move(type === 'PlanGranted' ? 'issued:plan' : 'issued:pack', 'available', data.credits);
        soldOnTerms(type === 'PlanGranted' ? data.plan : data.pack, data);
        if (type === 'PlanGranted') {
          this.subscription = granted(this.subscription, data);
          this.grant(data.grantId, 'plan', data.credits, data.priceCents, data.expiresAt);
        } else {
          this.orderRefs.push(String(data.grantId).slice('pack:'.length));
          this.grant(data.grantId, 'pack', data.credits, data.priceCents, null);
        }
        this.reversals.add(eventId, { as: 'refunds', of: data.grantId }, data.grantId, []);
        break;
      case 'CreditsAdjusted':
        this.allocated(data.allocations, data.amount);
        this.adjustmentIds.push(data.adjustmentId);
        if (data.amount > 0) move('adjusted', 'available', data.amount);
        else move('available', 'adjusted', -data.amount);
        this.adjust(eventId, data);
        break;
      case 'CreditsReserved':
        this.allocated(data.allocations, data.amount);
        move('available', 'held', data.amount);
        demandMember(!this.holds.has(data.reservationId), 'reservationId', 'a reservation is held twice');
        this.holds.set(data.reservationId, data);
        for (const { grantId, amount } of data.allocations) this.change(grantId, -amount, amount);
        break;
      case 'CreditsCaptured':
        move('held', 'consumed', data.amount);
        demandMember(!this.causes.has(data.causeEventId), 'causeEventId', 'one cause is captured twice');
        this.causes.add(data.causeEventId);
        this.reversals.add(
          eventId,
          { as: 'earned', of: eventId },
          null,
          this.settle(data).map(({ grantId, amount }) => this.takeFrom(grantId, 0, -amount, 'earned')),
        );
        break;
      case 'CreditsReleased': {
        this.allocated(data.allocations, data.amount);
        const held = this.settle(data);
        const bare = (list) => list.map(({ grantId, amount }) => ({ grantId, amount }));
        demandMember(
          same(bare(data.allocations), bare(held)),
          'allocations',
          'the released credits are not those that were held',
        );
        const isLasting = (one) => one.to === 'expired' && this.grants.get(one.grantId)?.expiresAt === null;
        demandMember(!data.allocations.some(isLasting), 'allocations', 'credits expire that have no end');
        const isEarly = (one) => one.to === 'expired' && occurredAt < this.grants.get(one.grantId)?.expiresAt;
        demandMember(!data.allocations.some(isEarly), 'allocations', 'credits expire before their end');
        const lapsed = [];
        for (const { grantId, amount, to } of data.allocations) {
          move('held', to, amount);
          if (to === 'available') this.change(grantId, amount, -amount);
          else lapsed.push(this.takeFrom(grantId, 0, -amount, 'breakage'));
        }
        this.reversals.add(eventId, { as: 'breakage', of: eventId }, null, lapsed);
        break;
      }
      case 'GrantExpired': {
        this.expire(data, occurredAt);
        move('available', 'expired', data.amount);
        const lapsed = this.takeFrom(data.grantId, -data.amount, 0, 'breakage');
        this.reversals.add(eventId, { as: 'breakage', of: eventId }, null, [lapsed]);
        break;
      }
      case 'PeriodClosed':
        this.close(data, month);
        break;
      case 'PeriodCarried':
        this.carry(data);
        break;
      default:
    }
    this.count += 1;
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
    demand(available >= 0 && held >= 0, 'facts.data', 'credits are negative');
    demand(
      sum(ACCOUNTS, (account) => this.accounts[account]) === 0,
      'facts.data',
      'the accounts do not sum to zero',
    );
    if (!this.knowsAll) return;
    const grants = [...this.grants.values()];
    demandMember(
      sum(grants, ({ remaining }) => remaining) === available,
      'allocations',
      'the grants left are not what is available',
    );
    demandMember(
      sum(grants, (grant) => grant.held) === held,
      'allocations',
      'what grants hold is not what is held',
    );
  }

  allocated(allocations, amount) {
    demandMember(
      sum(allocations, (one) => one.amount) === amount,
      'allocations',
      'allocations do not sum to the amount',
    );
    // Operators sign the amount of a correction alone.
    demandMember(
      allocations.every((one) => one.amount > 0 === amount > 0),
      'allocations',
      'allocations move credits the other way',
    );
  }

  grant(grantId, kind, amount, price, expiresAt) {
    demandMember(!this.grants.has(grantId), 'grantId', 'a grant is granted twice');
    const unused = { remaining: amount, held: 0 };
    this.grants.set(grantId, { kind, credits: amount, ...unused, expiresAt, price });
    if (kind !== 'adjustment') this.book('sales', price);
  }

  /** The grants of a correction, and their value. */
  adjust(eventId, data) {
    const { amount, adjustmentId, allocations, expiresAt = null, restores, counts = null } = data;
    this.reversals.check(data);
    const grantId = amount > 0 ? `adjustment:${adjustmentId}` : null;
    demandMember(
      grantId === null || allocations.every((one) => one.grantId === grantId),
      'allocations',
      'a correction gives credits to another grant than its own',
    );
    const figure = counts?.as ?? 'corrections';
    const price = restores?.priceCents ?? 0;
    let taken = [];
    if (grantId) {
      this.grant(grantId, 'adjustment', amount, price, expiresAt);
      this.book(figure, -price);
    } else taken = allocations.map((one) => this.takeFrom(one.grantId, one.amount, 0, figure));
    this.reversals.follow(eventId, data, grantId, taken);
  }

  /** A grant ends at the end that it was given. One without an end, such as a pack, does not. */
  expire({ grantId, expiredAt }, occurredAt) {
    const grant = this.grants.get(grantId);
    const isItsEnd = !grant || grant.expiresAt === expiredAt;
    demandMember(isItsEnd, 'expiredAt', 'a grant expires at another time than its own end');
    demandMember(occurredAt >= expiredAt, 'expiredAt', 'a grant expires before its end');
  }

  /**
   * Moves credits of a grant. Those that leave it for good leave their value in `money`.
   * @returns that value in cents
   */
  change(grantId, remaining, held, money) {
    const grant = this.grants.get(grantId);
    demandMember(grant !== undefined, 'grantId', `there is no grant ${grantId} with credits`);
    const before = grant.credits - grant.remaining - grant.held;
    grant.remaining += remaining;
    grant.held += held;
    const after = grant.credits - grant.remaining - grant.held;
    demandMember(
      grant.remaining >= 0 && grant.held >= 0 && after >= 0,
      'allocations',
      `the grant ${grantId} is out of its bounds`,
    );
    const cents = worth(grant, after) - worth(grant, before);
    if (money) this.book(money, cents);
    if (grant.remaining + grant.held === 0) this.grants.delete(grantId);
    return cents;
  }

  /** Credits that leave a grant for good, and their value. */
  takeFrom(grantId, remaining, held, figure) {
    return { grantId, credits: -remaining - held, cents: this.change(grantId, remaining, held, figure) };
  }

  /** Adds cents to the money of the month and of the range. */
  book(name, cents) {
    for (const money of [this.month.money, this.range]) if (money) money[name] += cents;
  }

  /** Cents of the credits that are not yet used, derived from the grants alone. `null`: they are not known. */
  deferred() {
    if (!this.knowsAll) return null;
    const leftIn = (grant) => grant.price - worth(grant, grant.credits - grant.remaining - grant.held);
    return sum([...this.grants.values()], leftIn);
  }

  /** Money over a month or the range: it must add up to what grants have left. */
  ended(money) {
    const closing = this.deferred();
    if (!money || closing === null) return null;
    demand(addsUp(money, closing), 'money', ADDS_UP);
    return { currency: CURRENCY, ...money, closing };
  }

  settle({ reservationId, amount }) {
    demandMember(!this.settled.has(reservationId), 'reservationId', 'a reservation settles twice');
    this.settled.add(reservationId);
    if (this.recent.newer.length === GENERATION) this.recent = { older: this.recent.newer, newer: [] };
    this.recent.newer.push(reservationId);
    const hold = this.holds.get(reservationId);
    this.holds.delete(reservationId);
    demandMember(hold !== undefined, 'reservationId', 'what is settled was not held');
    demandMember(hold.amount === amount, 'amount', 'more or less is settled than was held');
    return hold.allocations;
  }

  /** A closed month carries the whole book. Each member of it follows from the entries before. */
  close(data, month) {
    if (this.period)
      demandMember(data.period === this.period, 'period', 'another month is closed than was open');
    demandMember(same(data.closing, this.accounts), 'closing', 'the closing balances are not the accounts');
    if (this.knowsAll) {
      const right = this.carried(monthAfter(data.period) === month);
      const { workspaceId: _, period: __, ...carried } = data;
      for (const [name, value] of Object.entries(carried))
        demandMember(same(value, right[name]), name, `${name} does not follow from the entries of the book`);
    }
    const items = this.itemsOfClose(data);
    demandMember(
      sum(items.openHolds, ({ amount }) => amount) === this.accounts.held,
      'openHolds',
      'the open holds are not what is held',
    );
    this.lastMonth = { period: data.period, money: this.ended(this.month.money) };
    this.grants = new Map(
      items.openGrants.map(({ grantId, priceCents: price, ...grant }) => [grantId, { ...grant, price }]),
    );
    this.holds = new Map(items.openHolds.map((hold) => [hold.reservationId, hold]));
    this.recent = { older: [...items.settled.older], newer: [...items.settled.newer] };
    this.subscription = data.subscription;
    this.subscriptions = data.subscriptions;
    this.orderRefs = [...items.orderRefs];
    this.adjustmentIds = [...items.adjustmentIds];
    this.count = data.eventCount;
    const isStart = this.events === 1 + (data.carried?.parts ?? 0);
    this.knowsAll = true;
    this.period = monthAfter(data.period);
    this.startMonth();
    if (isStart && this.month.money) this.range = { ...this.month.money };
  }

  /** A close that a wrong clock began too early goes on with true dates: only its first event has to be in order. */
  datedAfter({ period, part = 0, carried = null }, month) {
    if (part > 0 || carried !== null) return;
    demand(month > period, 'facts.occurredAt', 'a month is closed before it is over');
  }

  /** A part of a close. Each of its lists continues the one of the part before. */
  carry(data) {
    if (this.period)
      demandMember(data.period === this.period, 'period', 'another month is closed than is open');
    this.parts ??= new Parts();
    const isNext = data.part === this.parts.count;
    demandMember(isNext, 'part', 'a part of the closed month is missing, repeated or moved');
    if (this.knowsAll) {
      const [right, done] = [listsOf(this.carried(true, true)), listsOf(this.parts.items)];
      for (const [name, list] of Object.entries(listsOf(data)))
        demandMember(
          same(list, right[name].slice(done[name].length, done[name].length + list.length)),
          name,
          `${name} in a part does not follow from the entries of the book`,
        );
    }
    this.parts.add(data);
  }

  /** What a close carries: its own lists, or those of the parts before it. */
  itemsOfClose({ carried = null, ...data }) {
    const { parts } = this;
    this.parts = null;
    if (carried === null) {
      demandMember(parts === null, 'carried', 'the close does not name the parts before it');
      return data;
    }
    for (const [name, none] of Object.entries(noItems()))
      demandMember(same(data[name], none), name, 'a close with parts has no lists of its own');
    demandMember(parts !== null, 'carried', 'the parts of the closed month are not before it');
    const named = { parts: parts.count, digest: parts.digest };
    demandMember(same(carried, named), 'carried', 'the parts before the close are not those that it names');
    return parts.items;
  }

  /**
   * What the close of the open month must carry.
   * @param isPrompt it is closed in the month after it. Later, settled reservations are forgotten
   * @param isPart for a part, which carries the lists; the close after it carries all the rest
   */
  carried(isPrompt, isPart = false) {
    const { older, newer } = isPrompt ? this.recent : { older: [], newer: [] };
    const { parts } = this;
    const all = {
      opening: this.month.opening,
      totals: this.month.totals,
      closing: this.accounts,
      subscription: this.subscription,
      subscriptions: this.subscriptions,
      openGrants: [...this.grants].map(([grantId, { price: priceCents, ...grant }]) => ({
        grantId,
        ...grant,
        priceCents,
      })),
      openHolds: [...this.holds.values()].sort((a, b) => byText(a.reservationId, b.reservationId)),
      settled: { older: older.toSorted(byText), newer: newer.toSorted(byText) },
      orderRefs: this.orderRefs,
      adjustmentIds: this.adjustmentIds,
      eventCount: this.count,
      carried: null,
    };
    if (parts === null || isPart) return all;
    for (const [name, list] of Object.entries(listsOf(this.carried(true, true))))
      demandMember(
        listsOf(parts.items)[name].length === list.length,
        'carried',
        `the parts of the closed month do not carry all of ${name}`,
      );
    return { ...all, ...noItems(), carried: { parts: parts.count, digest: parts.digest } };
  }
}

/** A subscription with a new plan from its next grant on. */
const changed = (subscription, { plan }) => {
  if (subscription === null) return null;
  const { nextPlan: _, endsAt: __, ...current } = subscription;
  return plan === current.plan ? current : { ...current, nextPlan: plan };
};

/** A subscription that ends with its next grant is carried until then. Otherwise it has ended. */
const cancelled = (subscription, { effectiveAt }) => {
  if (subscription === null || effectiveAt !== subscription.nextGrantAt) return null;
  const { nextPlan: _, ...rest } = subscription;
  return { ...rest, endsAt: effectiveAt };
};

const granted = (subscription, { plan, expiresAt }) => {
  if (subscription === null) return null;
  const { nextPlan: _, ...current } = subscription;
  return { ...current, plan, nextGrantAt: expiresAt };
};

// ---- 4. The export: header, events with their postings, footer ----

const FORMAT = 'credit-ledger-export/1';
const isRevision = (value) => isText(value) && /^(0|[1-9]\d*)$/.test(value);
/** Members in their order, whose values are checked elsewhere. */
const anyOf = (names) => Object.fromEntries(names.split(' ').map((name) => [name, () => true]));
const HEADER = {
  ...{ kind: isText, format: isText, workspaceId: isText, stream: isText, period: isNullOr(isMonth) },
  ...{ firstRevision: isNullOr(isRevision), previousChain: isSha256 },
  opening: hasMembers(perAccount(() => isWhole)),
};
const EVENT = anyOf('kind facts chain');
const FACTS = anyOf('data eventId occurredAt revision schemaVersion stream type');
/** An entry that no reader interprets. Facts are there when the chain goes through it; otherwise it goes past it. */
const UNREADABLE = {
  ...{ kind: isText, revision: isRevision, eventId: isText, type: isText, occurredAt: isText },
  ...{ problem: isNullOr(isText), setAside: isNullOr(isObject), facts: isNullOr(isObject), chain: isText },
};
const SET_ASIDE = { by: isText, at: isText, reason: isText };
const MOST_FINDINGS = 100;

const grantOf = ({ type, data }, index) => {
  if (type === 'CreditsReleased') return data.allocations[Math.floor(index / 2)].grantId;
  if ('grantId' in data) return data.grantId;
  return 'allocations' in data ? data.allocations.map(({ grantId }) => grantId).join(' ') : '';
};

/** Keys by name of the operator, and when each was retired (ms), from the setting OPERATORS. @throws Fault */
export const operatorsIn = (text) => {
  const operators = new Map();
  for (const one of text.split(/[\s,]+/).filter((part) => part !== '')) {
    const [, name, key, state = 'active'] =
      /^([a-z0-9][a-z0-9._-]*):([A-Za-z0-9+/=]+)(?::(active|retired(?:=.*)?))?$/.exec(one) ?? [];
    demand(name, 'operators', `"${one}" is not <name>:<public key>[:retired=<instant>]`);
    const retiredAt = state === 'active' ? Infinity : Date.parse(RETIRED.exec(state)?.[1]);
    demand(
      !Number.isNaN(retiredAt),
      'operators',
      `"${one}" says not since when the key is retired: write :retired=<instant>`,
    );
    const publicKey = publicKeyIn(`${PEM_START}${key}${PEM_END}`);
    const isKnown = [...operators.values()].flat().some((known) => known.key.equals(publicKey));
    demand(!isKnown, 'operators', `${name} has the same key as another entry`);
    operators.set(name, [...(operators.get(name) ?? []), { key: publicKey, retiredAt }]);
  }
  return operators;
};
const RETIRED = /^retired=(\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?Z)$/;
const [PEM_START, PEM_END] = ['-----BEGIN PUBLIC KEY-----\n', '\n-----END PUBLIC KEY-----\n'];

/** Who gives the credits of a reading back whose document failed for good. The service's own audit knows the failure. */
const DOCUMENT_REFUND = 'billing.document-refund';

const isDocumentRefund = ({ actor, approvedBy, signed, correctionId }) =>
  actor === `system:${DOCUMENT_REFUND}` && approvedBy === DOCUMENT_REFUND && !signed && !correctionId;

const NO_CAPTURE = { readingId: null, left: 0 };
/**
 * Why an entry does not give back what is left of a reading, as for a document that failed; `null`: it does.
 * @param capture `null`: it is before this file
 */
const noRefundBecause = ({ amount, reference, counts }, capture) => {
  if (counts?.as !== 'earned' || amount <= 0) return 'the entry gives no paid reading back';
  return capture === null || (capture.readingId === reference && capture.left === amount)
    ? null
    : 'the entry does not give back what is left of its reading';
};

/**
 * Why no two operators signed a correction; `null`: they did. Both sign the same text: the canonical JSON of what the
 * entry says, of the book, of who proposed it, and of the one grant that it may take credits from (`null`: any).
 * @param period the month that is open for the entry
 */
const unsignedBecause = ({ stream, data, occurredAt }, operators, period) => {
  const { correctionId, adjustmentId, amount, allocations, reason, reference, reversesEventId } = data;
  const { signed, actor, approvedBy, expiresAt = null } = data;
  if (!signed || !correctionId || !actor?.startsWith('operator:'))
    return 'no two operators signed this entry';
  const [workspaceId, proposedBy] = [stream.slice('credits-'.length), actor.slice('operator:'.length)];
  if (proposedBy === approvedBy) return `${approvedBy} proposed and approved this entry alone`;
  const { grantId } = signed;
  const text = canonical({
    format: 'credit-ledger-correction/1',
    ...{ workspaceId, correctionId, adjustmentId, proposedBy, amount, reason, reference, reversesEventId },
    ...{ grantId, expiresAt },
  });
  for (const [name, signature] of [
    [proposedBy, signed.proposer],
    [approvedBy, signed.approver],
  ]) {
    if (!operators.has(name)) return `${name}, who is to have signed this entry, is no operator`;
    const own = operators.get(name).find(({ key }) => isSigned(key, text, signature));
    if (!own) return `the signature of ${name} does not fit this entry`;
    // A date in a month that was closed before proves nothing: the entry was made after it.
    const isBackdated = occurredAt.slice(0, 7) < period && Date.parse(period) >= own.retiredAt;
    if (isBackdated || Date.parse(occurredAt) > own.retiredAt)
      return `the key with which ${name} is to have signed this entry was retired before`;
  }
  const isOther = (one) => one.amount < 0 && one.grantId !== grantId;
  return grantId !== null && allocations.some(isOther)
    ? `the entry takes credits of another grant than ${grantId}, which was signed`
    : null;
};

/**
 * The corrections of a book. One that nobody signed is a finding, until signed ones have taken back all of it: they name
 * it, or a reversal of it.
 */
class Corrections {
  checked = 0;
  /** Entries that no operator signs: they give back the credits of a document that failed, which an export does not show. */
  refunds = 0;
  /** By event id: credits that no entry has given back. */
  captures = new Map();
  /** By event id of each entry of the group: the credits that are not taken back, and its open findings. */
  groups = new Map();
  findings = [];
  compensated = [];

  /** @param operators `null`: no signature is checked */
  constructor(operators) {
    this.operators = operators;
  }

  paid({ eventId, data: { readingId, amount } }) {
    if (this.operators !== null) this.captures.set(eventId, { readingId, left: amount });
  }

  /** @param book with the entry in it */
  see(facts, line, book) {
    if (this.operators === null) return;
    const { eventId, revision, data } = facts;
    const { copied } = book.reversals;
    const isCopy = copied.has(eventId);
    const message = this.faultOf(facts, book) ?? (isCopy ? 'the entry has the id of another one' : null);
    const capture = this.captures.get(data.reversesEventId);
    if (capture) capture.left -= data.amount;
    if (message || data.signed) this.checked += 1;
    else this.refunds += 1;
    // Nobody knows which entry a reversal of several with one id means.
    const isSole = !isCopy && !copied.has(data.reversesEventId);
    const known = isSole ? (this.groups.get(eventId) ?? this.groups.get(data.reversesEventId)) : undefined;
    const group = known ?? { sum: 0, open: [] };
    if (isSole && (known || message)) this.groups.set(eventId, group);
    if (message) group.open.push({ line, field: 'facts.data.signed', revision, message });
    if (message) this.findings.push(group.open.at(-1));
    if (group.open.length > 0) group.sum += data.amount;
    if (message || group.open.length === 0 || group.sum !== 0) return;
    for (const finding of group.open)
      this.compensated.push({ revision: finding.revision, message: finding.message, by: data.correctionId });
    this.findings = this.findings.filter((finding) => !group.open.includes(finding));
    group.open = [];
  }

  faultOf(facts, { adjustmentIds, reversals, period }) {
    const { adjustmentId, reversesEventId } = facts.data;
    if (adjustmentIds.indexOf(adjustmentId) !== adjustmentIds.lastIndexOf(adjustmentId))
      return 'the entry is booked twice';
    if (!isDocumentRefund(facts.data)) return unsignedBecause(facts, this.operators, period);
    const capture =
      this.captures.get(reversesEventId) ?? (reversals.knows(reversesEventId) ? NO_CAPTURE : null);
    return noRefundBecause(facts.data, capture);
  }
}

/** Reads the lines of an export in order and collects what is wrong with them. */
class ExportVerifier {
  /** @param operators keys by name; `null`: the signatures of corrections are not checked */
  constructor(operators) {
    this.corrections = new Corrections(operators);
  }

  findings = [];
  number = 0;
  events = 0;
  postings = 0;
  unreadable = 0;
  unreadableHash = createHash('sha256');
  /** Entries that an operator has readers pass over, in one sentence each. */
  setAside = [];
  next = 0n;
  /** Text of the posting lines still to come for the last event. */
  expected = [];
  closedMonths = new Map();

  find(field, message, revision = this.next) {
    if (this.findings.length < MOST_FINDINGS)
      this.findings.push({ line: Math.max(1, this.number), field, revision: String(revision), message });
  }

  /** Runs a check and turns its Fault, or data that it cannot read, into a finding. */
  attempt(work, field, revision) {
    try {
      work();
      return true;
    } catch (error) {
      if (error.syscall) throw error;
      const known = error instanceof Fault;
      this.find(known ? error.field : field, known ? error.message : 'the line is malformed', revision);
      return false;
    }
  }

  /** @returns false when the rest cannot be read */
  line(text) {
    this.number += 1;
    let value;
    const isRead = this.attempt(() => {
      const parsed = parseLine(text);
      value = parsed.value;
      if (parsed.fault) this.find(parsed.fault.field, parsed.fault.message);
    }, 'text');
    if (!isRead) return this.header !== undefined;
    if (!this.header) return this.attempt(() => this.begin(value), 'kind');
    this.attempt(() => {
      demand(!this.footer, 'kind', 'the line stands after the footer');
      if (value?.kind === 'event') this.event(value);
      else if (value?.kind === 'unreadable') this.opaque(value, text);
      else if (value?.kind === 'posting') this.posting(value);
      else if (value?.kind === 'footer') this.end(value);
      else throw new Fault('kind', 'the line is neither event, unreadable, posting nor footer');
    }, 'text');
    return true;
  }

  /** @throws Fault unless a value has these members, in this order, with values that they can have */
  members(value, shapes, path = '') {
    const [given, right] = [Object.keys(value), Object.keys(shapes)];
    const [field, sentence] = shapeFault(value, shapes) ?? [];
    demand(field === undefined, `${path}${field}`, sentence);
    const moved = right.find((name, index) => given[index] !== name);
    demand(moved === undefined, `${path}${moved}`, 'the member stands in another place');
  }

  begin(header) {
    demand(header?.kind === 'header', 'kind', 'this is no ledger export: the first line is its header');
    demand(header.format === FORMAT, 'format', `there is no format ${header.format}`);
    this.members(header, HEADER);
    const { workspaceId, stream, period, firstRevision, opening, previousChain } = header;
    demand(stream === `credits-${workspaceId}`, 'workspaceId', 'the workspace is not the one of the stream');
    this.members(opening, anyOf(ACCOUNTS.join(' ')), 'opening.');
    demand(sum(ACCOUNTS, (account) => opening[account]) === 0, 'opening', 'the accounts do not sum to zero');
    const isWhole = firstRevision === '0';
    const starts = isWhole || firstRevision === null || period !== null;
    demand(starts, 'firstRevision', 'the book starts with another event');
    const used = isWhole ? ACCOUNTS.find((account) => opening[account] !== 0) : undefined;
    demand(used === undefined, `opening.${used}`, 'a book begins with nothing');
    demand(!isWhole || previousChain === CHAIN_START, 'previousChain', 'a chain begins with 64 zeros');
    this.header = header;
    this.next = BigInt(firstRevision ?? 0);
    this.chain = previousChain;
    this.book = new Book(opening, isWhole);
    this.trusted = true;
  }

  event(value) {
    this.allPosted();
    this.members(value, EVENT);
    const { facts, chain } = value;
    this.members(facts, FACTS, 'facts.');
    const revision = BigInt(facts.revision);
    this.checkRevision(revision, 'facts.revision');
    if (facts.stream !== this.header.stream)
      this.find('facts.stream', 'the event is of another stream', revision);
    if (chain !== sha256(this.chain, canonical(facts)))
      this.find('chain', 'the chain value does not fit the facts', revision);
    this.chain = String(chain);
    this.next = revision + 1n;
    this.events += 1;
    if (!this.trusted) return;
    // What follows from a fault would hide it: after one, only text, revisions and chain are checked.
    this.trusted = this.attempt(
      () => {
        const wrong = unreadableBecause(facts);
        demand(wrong === null, ...(wrong ?? []));
        demand(isInstant(facts.occurredAt), 'facts.occurredAt', 'this is no instant');
        this.checkPeriod(facts);
        const postings = this.book.see(facts, this.header.firstRevision === '0' && this.events === 1);
        const { available, held } = this.book.accounts;
        this.expected = postings.map(({ account, amount }, index) => ({
          kind: 'posting',
          revision: facts.revision,
          line: index + 1,
          account,
          debit: Math.max(0, -amount),
          credit: Math.max(0, amount),
          grantId: grantOf(facts, index),
          availableAfter: available,
          heldAfter: held,
        }));
      },
      'facts.data',
      revision,
    );
    if (facts.type === 'CreditsCaptured' && this.trusted) this.corrections.paid(facts);
    if (facts.type === 'CreditsAdjusted' && this.trusted) this.corrections.see(facts, this.number, this.book);
    if (facts.type === 'PeriodClosed' && this.trusted)
      this.closedMonths.set(facts.data.period, { facts, chain, money: this.book.lastMonth.money });
  }

  checkRevision(revision, field) {
    if (this.events + this.unreadable === 0 && this.header.firstRevision === null)
      this.find(field, 'the header says that there is no event');
    if (revision !== this.next) this.find(field, `revision ${revision} stands where ${this.next} belongs`);
  }

  /** An entry that moves nothing. Only the footer's hash covers what its facts do not. */
  opaque(value, text) {
    this.allPosted();
    this.members(value, UNREADABLE);
    const { revision, eventId, type, occurredAt, problem, setAside, facts, chain } = value;
    if (setAside !== null) this.members(setAside, SET_ASIDE, 'setAside.');
    const at = BigInt(revision);
    this.checkRevision(at, 'revision');
    if (this.monthEnded) this.find('kind', 'the entry is not of the month, which was closed before', at);
    if (facts !== null) {
      this.members(facts, FACTS, 'facts.');
      const own = { revision, eventId, type, occurredAt, stream: this.header.stream };
      const unlike = Object.keys(own).find((name) => facts[name] !== own[name]);
      if (unlike) this.find(`facts.${unlike}`, 'the facts are those of another entry', at);
    }
    if (chain !== (facts === null ? this.chain : sha256(this.chain, canonical(facts))))
      this.find('chain', 'the chain value does not fit the entry', at);
    this.chain = chain;
    this.next = at + 1n;
    this.unreadable += 1;
    this.unreadableHash.update(`${text}\n`);
    if (setAside) {
      const wrong = passedOverWrongly(value);
      if (wrong) this.find('problem', wrong, at);
      this.setAside.push(`revision ${revision} (${type}) set aside by ${setAside.by}: ${setAside.reason}`);
      return;
    }
    this.trusted = false;
    this.find('problem', `the entry ${type} cannot be read: ${problem}`, at);
  }

  /** The export of a month starts with the book, or with the close of the month before, and ends with its own close. */
  checkPeriod({ type, data }) {
    const { period } = this.header;
    if (period === null) return;
    demand(!this.monthEnded, 'facts.type', `the event is not of ${period}, which was closed before`);
    this.monthEnded = type === 'PeriodClosed' && data.period === period;
    if (this.events > 1) return;
    const starts =
      type === 'BookOpened'
        ? data.period === period
        : (type === 'PeriodClosed' || type === 'PeriodCarried') && monthAfter(data.period) === period;
    demand(starts, 'facts.type', `the export of ${period} does not start with that month`);
  }

  posting(row) {
    this.postings += 1;
    if (!this.trusted) return;
    const expected = this.expected.shift();
    demand(expected !== undefined, 'kind', 'the event has no such posting');
    if (JSON.stringify(expected) === JSON.stringify(row)) return;
    const field = difference(row, expected) || 'text';
    this.find(field, `the posting does not follow from its event: ${field}`, this.next - 1n);
  }

  allPosted() {
    const missing = this.trusted && this.expected.length > 0;
    this.expected = [];
    if (missing) this.find('kind', 'postings of the event before are missing', this.next - 1n);
  }

  end(footer) {
    this.allPosted();
    this.footer = footer;
    const { book, events, postings, header, chain } = this;
    const headRevision = this.headRevision();
    const sha = this.unreadableHash.copy().digest('hex');
    const money = this.trusted ? this.money() : footer.money;
    const right = {
      kind: 'footer',
      events,
      postings,
      ...(this.unreadable > 0 ? { unreadable: { entries: this.unreadable, sha256: sha } } : {}),
      totals: this.trusted ? book.totals : footer.totals,
      closing: this.trusted ? book.accounts : footer.closing,
      headRevision,
      headHash: chain,
      period: header.period,
      money,
    };
    if (JSON.stringify(right) === JSON.stringify(footer)) return;
    const field = difference(footer, right) || 'text';
    this.find(field, `the footer does not follow from the events: ${field}`, headRevision ?? 0);
  }

  headRevision() {
    return this.events + this.unreadable === 0 ? null : String(this.next - 1n);
  }

  money() {
    return this.trusted && this.events > 0 ? this.book.ended(this.book.range) : null;
  }

  /** @param sealedPeriods months whose seals the export agrees with */
  result(sealedPeriods) {
    if (!this.header && this.number === 0)
      this.find('kind', 'this is no ledger export: the file is empty', 0);
    if (this.header && !this.footer) {
      this.number += 1;
      this.find('kind', 'the export ends without its footer');
    }
    const { checked, refunds, compensated } = this.corrections;
    this.findings = [...this.findings, ...this.corrections.findings];
    const revisions = this.findings.map(({ revision }) => BigInt(revision));
    const firstBad = revisions.reduce((first, one) => (first === null || one < first ? one : first), null);
    return {
      ok: this.findings.length === 0,
      workspaceId: this.header?.workspaceId ?? null,
      events: this.events,
      postings: this.postings,
      firstRevision: this.header?.firstRevision ?? null,
      headRevision: this.headRevision(),
      headHash: this.chain ?? null,
      balances: this.trusted ? this.book.accounts : null,
      money: this.header && this.findings.length === 0 ? this.money() : null,
      sealedPeriods,
      firstBadRevision: firstBad === null ? null : String(firstBad),
      setAside: this.setAside,
      corrections: this.corrections.operators === null ? null : { checked, refunds, compensated },
      findings: this.findings,
    };
  }
}

// ---- 5. Seals: the end of a month, signed ----

const SEAL_FORMAT = 'credit-ledger-seal/1';
const SEAL_SHAPES = {
  format: isText,
  workspaceId: isSomeText,
  period: isMonth,
  revision: (value) => isText(value) && /^\d{1,18}$/.test(value),
  eventId: isSomeText,
  closedAt: isInstant,
  headHash: isSha256,
  closing: hasMembers(perAccount(() => isWhole)),
  money: hasMembers({ currency: isText, ...Object.fromEntries(MONEY.map((name) => [name, isWhole])) }),
  publicKeySha256: isSha256,
  signature: isSomeText,
};
/** @throws Fault when the text is no such key */
const publicKeyIn = (pem) => {
  let key = null;
  try {
    key = createPublicKey(pem);
  } catch {
    // Said below.
  }
  demand(key?.asymmetricKeyType === 'ed25519', 'publicKey', 'this is no public key of Ed25519 in PEM');
  return key;
};
const keyId = (key) => sha256(key.export({ type: 'spki', format: 'der' }));
const isSigned = (key, bytes, signature) =>
  verifySignature(null, Buffer.from(bytes), key, Buffer.from(String(signature), 'base64'));

/**
 * Trusted keys by their SHA-256. A handover is a new public key that an already trusted key signed.
 * @throws Fault when a handover is not signed by a trusted key
 */
export const trustedKeys = (pems, handovers = []) => {
  const keys = new Map(pems.map(publicKeyIn).map((key) => [keyId(key), key]));
  for (const handover of handovers) takeOver(keys, handover);
  return keys;
};
const takeOver = (keys, { signature, ...manifest }) => {
  const old = keys.get(manifest.previousKeySha256);
  demand(
    old,
    'previousKeySha256',
    'the handover names a key that is not trusted: it is not signed by the public key',
  );
  const isRight = isSigned(old, canonical(manifest), signature);
  demand(isRight, 'signature', 'the handover of the key is not signed by the public key');
  const key = publicKeyIn(manifest.publicKey);
  keys.set(keyId(key), key);
};

/** What is wrong with a seal itself, and with a book that it should describe. */
function* sealFaults(seal, keys, export_) {
  if (!isObject(seal)) return yield ['text', 'the line is no seal'];
  if (seal.format !== SEAL_FORMAT) return yield ['format', `there is no format ${seal.format}`];
  const fault = shapeFault(seal, SEAL_SHAPES);
  if (fault) return yield fault;
  const { signature, ...manifest } = seal;
  const key = keys.get(manifest.publicKeySha256);
  if (!key) yield ['publicKeySha256', 'the seal names another key'];
  else if (!isSigned(key, canonical(manifest), signature))
    yield ['signature', 'the seal is not signed with this key'];
  if (!export_) return;
  const { closedMonths } = export_;
  const closed = closedMonths.get(seal.period);
  if (!closed) return yield ['period', `the sealed month ${seal.period} is not closed in the export`];
  const { facts, chain, money } = closed;
  if (chain !== seal.headHash) yield ['headHash', 'the sealed head hash is another: history was rewritten'];
  if (facts.revision !== seal.revision) yield ['revision', 'the month was closed at another revision'];
  if (facts.eventId !== seal.eventId) yield ['eventId', 'the month was closed by another event'];
  if (facts.occurredAt !== seal.closedAt) yield ['closedAt', 'the month was closed at another time'];
  if (!same(facts.data.closing, seal.closing)) yield ['closing', 'the sealed closing balances are others'];
  if (money && !same(money, seal.money)) yield ['money', 'the sealed money is another'];
}

/**
 * Verifies the lines of an export.
 * @param month of `verifyMonth`: one of its seals must agree with the export
 * @param operators keys by name, of `operatorsIn`; `null`: the signatures of corrections are not checked
 */
export const verifyExport = (lines, { month, keys = new Map(), operators = null } = {}) => {
  const verifier = new ExportVerifier(operators);
  verifier.attempt(() => {
    for (const text of lines) if (!verifier.line(text)) break;
  }, 'text');
  const { header } = verifier;
  if (month === undefined || !header) return verifier.result([]);
  const { seals, placeOf } = month;
  const { period } = month.result;
  const seal = seals.find((one) => one.workspaceId === header.workspaceId && one.period === period);
  const faults = seal
    ? [...sealFaults(seal, keys, verifier)]
    : [['workspaceId', 'there is no seal of this workspace and month']];
  for (const [field, message] of faults)
    verifier.findings.push({
      ...(seal ? placeOf(seal) : { file: SEALS_FILE, line: 0 }),
      field: `seal.${field}`,
      revision: SEAL_SHAPES.revision(seal?.revision) ? seal.revision : '0',
      message,
    });
  return verifier.result(faults.length === 0 ? [period] : []);
};

// ---- 6. A month: the seals of all books, and one signature over all of them ----

/** RFC 6962: leaves and nodes are hashed with different prefixes, so that neither can pass for the other. */
const merkleRoot = (leaves) => {
  if (leaves.length === 0) return sha256('');
  let level = leaves.map((leaf) => createHash('sha256').update('\0').update(leaf).digest());
  while (level.length > 1) {
    const parents = [];
    for (let index = 0; index < level.length; index += 2) {
      const [left, right] = [level[index], level[index + 1]];
      parents.push(right ? createHash('sha256').update('\u0001').update(left).update(right).digest() : left);
    }
    level = parents;
  }
  return level[0].toString('hex');
};

const MONTH = 'month.json';
const SEALS_FILE = 'seals.jsonl';

/**
 * Verifies the unpacked archive of a month.
 * @param read the bytes of a file of the archive
 */
export const verifyMonth = (read, keys) => {
  const findings = [];
  const find = (file, line, field, message) => findings.push({ file, line, field, message });
  /** What the work finds of one file. @throws what is no Fault */
  const inspect = (file, line, work) => {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      find(file, error.line ?? line, error.field, error.message);
      return null;
    }
  };
  const bytes = read(MONTH);
  const text = bytes.toString('utf8');
  const month = inspect(MONTH, 1, () => objectIn(text));
  if (month === null)
    return {
      result: { ok: false, period: null, books: null, merkleRoot: null, money: null, findings },
      seals: [],
    };
  const at = (field, message) => find(MONTH, lineOf(text, field), field, message);
  const key = keys.get(month.publicKeySha256);
  if (month.format !== 'credit-ledger-month/1') at('format', `there is no format ${month.format}`);
  if (!isMonth(month.period)) at('period', 'the value is not one that the member can have');
  if (!key) at('publicKeySha256', 'the month names another key');
  else if (!isSigned(key, bytes, read('month.sig').toString('utf8')))
    find('month.sig', 1, 'signature', 'month.json is not signed with this key');
  if (!isObject(month.files)) at('files', 'the value is not one that the member can have');
  for (const [file, hash] of Object.entries(isObject(month.files) ? month.files : {})) {
    let given = null;
    try {
      given = sha256(read(file));
    } catch {
      find(file, 0, 'file', 'the file is missing');
    }
    if (given !== null && given !== hash) find(file, 0, 'file', 'the file is not the one that was signed');
  }
  const lines = [];
  inspect(SEALS_FILE, 1, () => {
    try {
      for (const line of linesIn([read(SEALS_FILE)])) lines.push(line);
    } catch (error) {
      throw error instanceof Fault ? new Fault(error.field, error.message, Math.max(1, lines.length)) : error;
    }
  });
  /** Seals whose sums can be added. */
  const seals = [];
  let last = '';
  for (const [index, line] of lines.entries()) {
    const found = (field, message) => find(SEALS_FILE, index + 1, field, message);
    const seal = inspect(SEALS_FILE, index + 1, () => objectIn(line));
    if (seal === null) continue;
    for (const [field, message] of sealFaults(seal, keys)) found(field, message);
    if (canonical(seal) !== line) found('text', 'the seal is not written in canonical JSON');
    if (seal.period !== month.period) found('period', 'the seal is of another month');
    if (!(seal.workspaceId > last)) found('workspaceId', 'the seals are not in order, or one is there twice');
    last = seal.workspaceId;
    if (SEAL_SHAPES.closing(seal.closing) && SEAL_SHAPES.money(seal.money)) seals.push(seal);
  }
  if (month.books !== lines.length) at('books', 'the month counts other seals');
  if (month.merkleRoot !== merkleRoot(lines)) at('merkleRoot', 'the Merkle root is not the one of the seals');
  const closing = perAccount((account) => sum(seals, (seal) => seal.closing[account]));
  if (!same(closing, month.closing)) at('closing', 'the closing balances are not the sum of the seals');
  const sums = Object.fromEntries(MONEY.map((name) => [name, sum(seals, (seal) => seal.money[name])]));
  const money = { currency: CURRENCY, ...sums };
  if (!same(money, month.money)) at('money', 'the money is not the sum of the seals');
  if (!addsUp(money, money.closing)) at('money', ADDS_UP);
  const { period = null, books = null, merkleRoot: root = null } = month;
  return {
    result: {
      ok: findings.length === 0,
      period,
      books,
      merkleRoot: root,
      money: month.money ?? null,
      findings,
    },
    seals,
    placeOf: (seal) => ({ file: SEALS_FILE, line: 1 + Math.max(0, lines.indexOf(canonical(seal))) }),
  };
};

// ---- 7. The command ----

const money = (cents) =>
  `${cents < 0 ? '-' : ''}${Math.floor(Math.abs(cents) / 100)}.${String(Math.abs(cents) % 100).padStart(2, '0')}`;
const moneyLines = (amounts) =>
  amounts
    ? MONEY.map(
        (name) =>
          `  ${`deferred ${name}`.padEnd(22).replace(/deferred (?!opening|closing)/, '')}${money(amounts[name]).padStart(14)} ${amounts.currency}`,
      )
    : [];

const where = ({ file, line, field, revision }) =>
  [file, line > 0 ? `line ${line}` : '', field, revision === undefined ? '' : `revision ${revision}`]
    .filter((part) => part)
    .join(', ');
const listed = (findings) => findings.map((finding) => `  ${where(finding)}: ${finding.message}`);

const describe = (result) => {
  const { workspaceId, events, postings, headHash, balances, firstRevision, firstBadRevision } = result;
  if (!result.ok)
    return [
      `${workspaceId ?? 'the file'}: first bad revision ${firstBadRevision}`,
      ...listed(result.findings),
    ].join('\n');
  return [
    `${workspaceId}: ${events} events and ${postings} postings are right; head hash ${headHash}`,
    ...ACCOUNTS.map((account) => `  ${account.padEnd(12)} ${String(balances[account]).padStart(10)}`),
    ...result.setAside.map((entry) => `  passed over: ${entry}`),
    result.corrections
      ? `  ${result.corrections.checked} corrections are signed by two operators, or compensated`
      : '  no signature of a correction was checked: add --operators',
    ...(result.corrections?.refunds
      ? [
          `  ${result.corrections.refunds} more give back readings whose document failed: ops ledger verify sees the failure`,
        ]
      : []),
    ...(result.corrections?.compensated ?? []).map(
      ({ revision, message, by }) => `  revision ${revision}: ${message}; compensated by ${by}`,
    ),
    ...(result.money ? moneyLines(result.money) : []),
    result.sealedPeriods.length > 0
      ? `  as sealed for ${result.sealedPeriods.join(', ')}`
      : '  no seal was checked',
    ...(firstRevision === '0' ? [] : [`  what is before revision ${firstRevision} is not in this export`]),
  ].join('\n');
};

const describeMonth = (result) =>
  result.ok
    ? [
        `${result.period}: ${result.books} books are sealed and signed; Merkle root ${result.merkleRoot}`,
        ...moneyLines(result.money),
      ].join('\n')
    : [`${result.period ?? MONTH}: not as it was signed`, ...listed(result.findings)].join('\n');

const USAGE = `Usage: verify-ledger.mjs EXPORT.jsonl [--operators FILE] [--json]
       verify-ledger.mjs --month FOLDER --public-key KEY.pem [EXPORT.jsonl] [--operators FILE] [--json]
       --operators FILE: the setting OPERATORS, whose keys must have signed each correction
       --month FOLDER: a month; the export must agree with its seal
       --handover FILE: also trust the key that the public key signed; may be repeated`;

/** Work on the text of a file. @throws Error that names the file, the line and the member of a Fault */
const inFile = (file, work) => {
  const text = readFileSync(file, 'utf8');
  try {
    return work(text);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const { field, line = lineOf(text, field), message } = error;
    throw new Error(`${where({ file, line, field })}: ${message}`, { cause: error });
  }
};

const run = () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      operators: { type: 'string' },
      month: { type: 'string' },
      'public-key': { type: 'string' },
      handover: { type: 'string', multiple: true },
      json: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) return console.log(USAGE);
  const { month, handover = [] } = values;
  if (positionals.length > 1 || (positionals.length === 0 && !month)) throw new Error(USAGE);
  if ((month === undefined) !== (values['public-key'] === undefined))
    throw new Error('A month is checked against a public key: give both --month and --public-key.');
  const keys = values['public-key'] ? inFile(values['public-key'], (text) => trustedKeys([text])) : new Map();
  for (const file of handover) inFile(file, (text) => takeOver(keys, objectIn(text)));
  const results = [];
  const checked = month ? verifyMonth((name) => readFileSync(join(month, name)), keys) : undefined;
  if (checked) results.push([checked.result, describeMonth]);
  if (positionals.length === 1) {
    const operators = values.operators ? inFile(values.operators, operatorsIn) : null;
    const result = verifyExport(linesIn(partsOf(positionals[0])), { month: checked, keys, operators });
    const findings = result.findings.map((finding) => ({ file: positionals[0], ...finding }));
    results.push([{ ...result, findings }, describe]);
  }
  for (const [result, print] of results) console.log(values.json ? JSON.stringify(result) : print(result));
  if (results.some(([result]) => !result.ok)) process.exitCode = 1;
};

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    run();
  } catch (error) {
    const { code, path, syscall, message } = error;
    if (code === 'ENOENT') console.error(`There is no file ${path}.`);
    else console.error(syscall ? `${path ?? 'A file'} cannot be read: ${code}.` : message);
    process.exitCode = 1;
  }
}
