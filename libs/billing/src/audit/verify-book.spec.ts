import { beforeAll, describe, expect, it } from '@jest/globals';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import {
  altered,
  eventfulBook,
  rechained,
  TAMPERINGS,
  type TestBook,
  WS,
  exportOf,
  openedBook,
  correctedBook,
  renumbered,
  streamOf,
  verifierOf,
} from '../../test/book.js';
import { adjustment } from '../../test/adjustment.js';
import { balanceAsOf } from '../application/statements.js';
import {
  linesIn,
  TERMS_SOLD as SOLD_ALONE,
  verifyExport as verifyAlone,
} from '../../../../tools/verify-ledger.mjs';
import type { AsOf } from '../contracts/messages.js';
import { TERMS_SOLD } from '../contracts/catalogue.js';
import { storedInParts } from '../../test/in-parts.js';
import type { Grant } from '../contracts/events.js';
import { refundedBook } from '../../test/refunded-book.js';
import { statementOf } from './statement.js';

let book: TestBook;
beforeAll(async () => {
  book = await eventfulBook();
});

const verify = (events: readonly StoredEvent[]) => verifierOf(events).report();

describe('verifying a book', () => {
  it('finds no fault in an unchanged book, and names its head', () => {
    expect(verify(book.events)).toEqual({
      workspaceId: WS,
      events: book.events.length,
      headRevision: BigInt(book.events.length - 1),
      headHash: book.events.at(-1)!.metadata.chain,
      firstBadRevision: null,
      findings: [],
      repairedDates: 0,
      setAside: [],
    });
    expect(new Set(book.events.map(({ type }) => type))).toContain('PeriodClosed');
  });

  it.each(TAMPERINGS)('names the first bad revision when %s', (_, tamper, firstBad) => {
    expect(verify(tamper(book.events)).firstBadRevision).toBe(BigInt(firstBad));
  });

  it.each<[string, string, Record<string, unknown>, RegExp]>([
    ['more is captured than was held', 'CreditsCaptured', { amount: 40 }, /held amount|than was held/],
    ['a closed month carries other credits', 'PeriodClosed', { openGrants: [] }, /openGrants/],
    ['an amount is no number', 'PackPurchased', { credits: '50' }, /credits: invalid_type|not one that/],
    ['the book is another workspace’s', 'BookOpened', { workspaceId: 'ws_2' }, /another workspace/],
  ])(
    'finds in log and file that %s, though the whole chain was rebuilt',
    async (_, type, change, message) => {
      const index = book.events.findIndex((event) => event.type === type);
      const forged = rechained(book.events.with(index, altered(book.events[index]!, change)));
      const { findings, firstBadRevision } = verify(forged);
      expect(firstBadRevision).toBe(BigInt(index));
      expect(findings.map((finding) => finding.message).join()).toMatch(message);
      const alone = verifyAlone(linesIn([Buffer.from(await exportOf(forged))]));
      expect(alone.findings[0]).toMatchObject({ revision: String(index) });
      expect(alone.findings[0]!.message).toMatch(message);
    },
  );

  it('finds a second capture for one cause', () => {
    const of = (type: string, id: string) =>
      book.events.findIndex((event) => event.type === type && JSON.stringify(event.data).includes(id));
    const release = book.events[of('CreditsReleased', 'r2')]!;
    const { allocations: _, ...data } = release.data as { allocations: unknown };
    const events = book.events.with(Number(release.revision), {
      ...release,
      type: 'CreditsCaptured',
      data: { ...data, causeEventId: 'end-r1' },
    });
    expect(verify(rechained(events)).findings[0]).toMatchObject({
      revision: release.revision,
      message: 'event end-r1 was captured for before',
    });
  });

  it('takes one wrong date as explained by a correction of its entry, and all by a repair of dates', () => {
    const index = book.events.findLastIndex(({ type }) => type === 'CreditsAdjusted');
    const misdated = book.events.map((event, n) =>
      n < index ? { ...event, recordedAt: Date.parse(event.metadata.occurredAt) - 60_000 } : event,
    );
    const named = misdated[index - 1]!.id;
    const after = (reference: string) => {
      const correction = altered(misdated[index]!, { reference, reversesEventId: named });
      const { findings, repairedDates } = verify(rechained(misdated.with(index, correction)));
      return [findings.filter(({ check }) => check === 'clock').length, repairedDates];
    };
    expect(after('INC-42')).toEqual([index - 1, 1]);
    expect(after('clock:of another entry')).toEqual([index - 1, 1]);
    expect(after(`clock:${named}`)).toEqual([0, index]);
  });
});

describe('the past of a book', () => {
  it('has statements that open with the closing balance of the month before, and every movement once', async () => {
    const statement = (period: string) => statementOf(WS, period, streamOf(book.events));
    const months = await Promise.all(['2026-04', '2026-05', '2026-06'].map(statement));
    expect(months.map((month) => month!.closed)).toEqual([true, true, false]);
    expect(months[1]!.opening).toEqual(months[0]!.closing);
    expect(months[2]!.opening).toEqual(months[1]!.closing);
    const revisions = months.flatMap((month) => month!.entries.map(({ revision }) => revision));
    expect(revisions).toEqual(book.events.map(({ revision }) => revision));
    expect(await statement('2026-03')).toBeNull();
    expect(await statement('2026-07')).toBeNull();
  });

  it('has balances at a revision or an instant, with the expiries up to then', async () => {
    const asOf = (at: AsOf) => balanceAsOf(streamOf(book.events), at, 10_000);
    const instant = (text: string) => asOf({ instant: Date.parse(text) });
    expect(await asOf({ revision: 3n })).toMatchObject({ available: 450, held: 0 });
    expect(await instant('2026-04-12T09:00:00Z')).toMatchObject({ available: 410, held: 40 });
    expect(await instant('2026-05-09T23:59:59.999Z')).toMatchObject({ expired: 0, held: 20 });
    expect((await instant('2026-05-10T00:00:00Z'))!.expired).toBeGreaterThan(0);
    expect(await instant('2026-04-01T00:00:00Z')).toBeNull();
  });

  it('A date in the future hides neither its entry nor later ones from the balance at an instant', async () => {
    const own = await openedBook();
    await own.do('2026-04-11T12:00:00Z', adjustment({ adjustmentId: 'a1', amount: 100 }));
    await own.do('2026-04-12T12:00:00Z', adjustment({ adjustmentId: 'a2', amount: 7 }));
    const events = own.events.map((event, n) => {
      const recordedAt = Date.parse(event.metadata.occurredAt);
      const metadata = { ...event.metadata, occurredAt: '2026-05-21T12:00:00.000Z' };
      return n === 1 ? { ...event, recordedAt, metadata } : { ...event, recordedAt };
    });
    const at = (text: string) => balanceAsOf(streamOf(events), { instant: Date.parse(text) }, 10_000);
    expect(await at('2026-04-20T00:00:00Z')).toMatchObject({ available: 107 });
    expect(await at('2026-04-11T00:00:00Z')).toMatchObject({ available: 0 });
  });
});

describe('forged grants', () => {
  /** What the verifiers of books and of files say of the first entry of a type, as somebody with the event store's login may have written it. */
  const messagesOf = async (forge: (event: StoredEvent) => StoredEvent, type = 'GrantExpired') => {
    const { events } = await correctedBook();
    const index = events.findIndex((event) => event.type === type);
    const forged = rechained(events.with(index, forge(events[index]!)));
    const bytes = Buffer.from(await exportOf(forged));
    const of = (findings: readonly { readonly message: string }[]) => findings.map(({ message }) => message);
    return {
      book: of(verify(forged).findings),
      alone: of(verifyAlone(linesIn([bytes])).findings),
    };
  };

  /** Credits and cents of every release. Only ever add to it. */
  const SOLD = {
    studio: ['400 for 14900'],
    pro: ['2000 for 39900'],
    growth: ['10000 for 119000'],
    access_local: ['100 for 4900'],
    flex: ['50 for 2900'],
    sprint: ['200 for 9900'],
    campaign: ['500 for 19900'],
    burst: ['2000 for 69900'],
  };

  const OTHER = 'a grant expires at another time than its own end';
  const EARLY = 'a grant expires before its end';

  it.each([
    [
      'that took credits of a pack',
      OTHER,
      (event: StoredEvent) => altered(event, { grantId: 'pack:o1:sprint' }),
    ],
    [
      'at another time',
      OTHER,
      (event: StoredEvent) => altered(event, { expiredAt: '2026-05-01T00:00:00.000Z' }),
    ],
    [
      'before it was due',
      EARLY,
      (event: StoredEvent) => ({
        ...event,
        metadata: { ...event.metadata, occurredAt: '2026-05-02T00:00:00.000Z' },
      }),
    ],
  ])('An expiry %s is found in the log and in the file', async (_, message, forge) => {
    const { book, alone } = await messagesOf(forge);
    expect([book[0], alone[0]]).toEqual([expect.stringContaining(message), expect.stringContaining(message)]);
  });

  it.each([
    ['PlanGranted', 'for nothing', { priceCents: 0 }],
    ['PackPurchased', 'for a cent', { priceCents: 1 }],
  ])('%s %s is found in the log and in the file', async (type, _, forged) => {
    const messages = await messagesOf((event) => altered(event, forged), type);
    for (const [first] of Object.values(messages)) expect(first).toContain('was never sold on these terms');
  });

  it('Both verifiers know the same terms', () => {
    expect(SOLD_ALONE).toEqual(Object.fromEntries(TERMS_SOLD));
  });

  it('Terms that were sold once are known for ever: a change of a price keeps the old ones', () => {
    const known = (Object.keys(SOLD) as (keyof typeof SOLD)[]).map((id) => [
      id,
      SOLD[id].every((sold) =>
        TERMS_SOLD.get(id)?.some(({ credits, priceCents }) => `${credits} for ${priceCents}` === sold),
      ),
    ]);
    expect(known).toEqual(Object.keys(SOLD).map((id) => [id, true]));
    expect([...TERMS_SOLD.keys()].toSorted()).toEqual(Object.keys(SOLD).toSorted());
  });
});

describe('the parts of a close', () => {
  const divided = async () => storedInParts((await eventfulBook()).events);
  const isPart = ({ type }: StoredEvent): boolean => type === 'PeriodCarried';

  /** The first finding of the verifiers of books and of exports; `null`: none. */
  const findings = async (events: readonly StoredEvent[], period: string | null = null) => {
    const bytes = Buffer.from(await exportOf(events, 'jsonl', period));
    return [verify(events), verifyAlone(linesIn([bytes]))].map(
      ({ findings: [first] }) => first?.message ?? null,
    );
  };

  /** The first close of a book, its parts changed, with revisions and chain made again. */
  const withParts = (
    events: readonly StoredEvent[],
    change: (parts: readonly StoredEvent[]) => readonly StoredEvent[],
  ): StoredEvent[] => {
    const from = events.findIndex(isPart);
    const end = events.findIndex(({ type }) => type === 'PeriodClosed');
    const parts = change(events.slice(from, end));
    return rechained(renumbered([...events.slice(0, from), ...parts, ...events.slice(end)]));
  };

  const withAmount = (event: StoredEvent): StoredEvent => {
    const { openGrants } = event.data as { openGrants: readonly Grant[] };
    const [first] = openGrants;
    return altered(event, { openGrants: openGrants.with(0, { ...first!, remaining: first!.remaining + 1 }) });
  };

  describe('a book that closes its months in parts', () => {
    it('is right, as a whole and month by month', async () => {
      const events = await divided();
      expect(events.filter(isPart).length).toBeGreaterThan(3);
      for (const period of [null, '2026-04', '2026-05', '2026-06'])
        expect(await findings(events, period)).toEqual([null, null]);
    });

    it.each<[string, (parts: readonly StoredEvent[]) => readonly StoredEvent[]]>([
      ['one amount is changed', (parts) => parts.with(0, withAmount(parts[0]!))],
      ['the last part is dropped', (parts) => parts.toSpliced(-1, 1)],
      ['all parts are dropped', () => []],
      ['two parts are swapped', (parts) => parts.with(0, parts[1]!).with(1, parts[0]!)],
      ['the parts begin again', (parts) => [parts[0]!, ...parts]],
    ])('does not verify when %s under a chain that was made again', async (_, change) => {
      const changed = withParts(await divided(), change);
      for (const message of await findings(changed))
        expect(message).toMatch(/closed month|parts|does not follow from the entries/);
    });

    it('does not verify when another entry stands between the parts', async () => {
      const events = await divided();
      const [opened, , , pack] = events;
      expect(opened!.type + pack!.type).toBe('BookOpenedPackPurchased');
      const other = altered(pack!, { grantId: 'pack:o2:flex', orderRef: 'o2' });
      const changed = withParts(events, (parts) => parts.toSpliced(1, 0, other));
      for (const message of await findings(changed)) expect(message).toMatch(/stands between the parts/);
    });

    it('is right in a copied log, which has new record times', async () => {
      const recordedAt = Date.parse('2027-01-01T00:00:00.000Z');
      const copied = (await divided()).map((event) => ({ ...event, recordedAt }));
      expect(await findings(copied)).toEqual([null, null]);
    });

    it('has true dates after a first part that a wrong clock dated', async () => {
      const events = await divided();
      const from = events.findIndex(isPart);
      const end = events.findIndex(({ type }) => type === 'PeriodClosed');
      const ahead = { dated: '2026-05-01T00:00:00.000Z', recordedAt: Date.parse('2026-04-20T00:00:00.000Z') };
      const dated = rechained(
        events.slice(0, end + 1).map((event, index) => {
          if (index < from) return event;
          const occurredAt = index === from ? ahead.dated : new Date(ahead.recordedAt + index).toISOString();
          return { ...event, recordedAt: ahead.recordedAt, metadata: { ...event.metadata, occurredAt } };
        }),
      );
      const [clock, alone] = await findings(dated);
      expect(alone).toBeNull();
      expect(clock).toMatch(/^dated 2026-05-01T00:00:00.000Z, but the store recorded it/);
    });
  });
});

describe('a refund of a pack that was undone', () => {
  let events: readonly StoredEvent[];
  beforeAll(async () => {
    ({ events } = await refundedBook());
  });

  it('has its value in the statement of the month', async () => {
    const stored = () => streamOf(events);
    const { grants, money } = (await statementOf(WS, '2026-05', stored()))!;
    expect(money).toMatchObject({ refunds: -7_920 });
    expect(grants.map(({ priceCents }) => priceCents)).toEqual([3_465, 4_455]);
    const june = (await statementOf(WS, '2026-06', stored()))!;
    expect(june.grants.map(({ priceCents }) => priceCents)).toEqual([3_465, 4_455, 2_475]);
  });

  /** The book up to the first entry that restores, with other data there and a chain that fits. */
  const forged = (change: object) => {
    const place = events.findIndex(({ data }) => (data as { restores?: object }).restores);
    const other = structuredClone(altered(events[place]!, { ...change }));
    const data = JSON.parse(JSON.stringify(other.data)) as unknown;
    return { place, of: rechained([...events.slice(0, place), { ...other, data }]) };
  };

  it.each([
    ['a cent more', { restores: { grantIds: ['pack:o1:sprint'], priceCents: 3_466 } }],
    ['a grant more', { restores: { grantIds: ['pack:o1:sprint', 'plan:1'], priceCents: 3_465 } }],
    ['nothing to restore', { restores: undefined }],
    ['that it is a gift', { reversesEventId: null }],
    ['that it was earned', { counts: { as: 'earned', of: 'pack:o1:sprint' } }, 'counts'],
    ['that it is a correction', { counts: undefined }, 'counts'],
  ])(
    'is a finding of every verifier when it says %s, with a chain that fits',
    async (_, change, member = 'restores') => {
      const { place, of } = forged(change);
      expect(verify(of).findings).toMatchObject([{ revision: BigInt(place), check: 'invariant' }]);
      const { findings } = verifyAlone(linesIn([Buffer.from(await exportOf(of))]));
      expect(findings[0]).toMatchObject({ field: `facts.data.${member}`, revision: String(place) });
    },
  );
});
