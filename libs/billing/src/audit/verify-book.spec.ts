import { beforeAll, describe, expect, it } from '@jest/globals';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { VerifyLedgerHandler } from '../application/audit/verify-ledger.handler.js';
import { VerifyLedger } from '../contracts/index.js';
import { altered, eventfulBook, rechained, STREAM, TAMPERINGS, type TestBook, WS } from '../../test/book.js';
import { BookVerifier } from './verify-book.js';
import { OPERATORS } from '../../test/operators.js';

let book: TestBook;
beforeAll(async () => {
  book = await eventfulBook();
});

const verify = (events: readonly StoredEvent[]) => {
  const verifier = new BookVerifier(STREAM, 10_000);
  for (const event of events) verifier.see(event);
  return verifier.report();
};

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
    ['more is captured than was held', 'CreditsCaptured', { amount: 40 }, /is not the held amount/],
    [
      'a reservation that is not open settles',
      'CreditsCaptured',
      { reservationId: 'r9' },
      /settles without a hold/,
    ],
    ['allocations do not add up', 'CreditsReleased', { allocations: [] }, /allocations do not sum/],
    ['more is spent than there is', 'CreditsAdjusted', { amount: -5_000 }, /allocations do not sum/],
    ['a closed month carries other credits', 'PeriodClosed', { openGrants: [] }, /openGrants/],
    ['an amount is no number', 'PackPurchased', { credits: '50' }, /credits: invalid_type/],
    ['the book is another workspace’s', 'BookOpened', { workspaceId: 'ws_2' }, /another workspace/],
  ])('finds by its invariants that %s, though the whole chain was rebuilt', (_, type, change, message) => {
    const index = book.events.findIndex((event) => event.type === type);
    const { findings, firstBadRevision } = verify(
      rechained(book.events.with(index, altered(book.events[index]!, change))),
    );
    expect(firstBadRevision).toBe(BigInt(index));
    expect(findings.map((finding) => finding.message).join()).toMatch(message);
  });

  it('finds an entry dated in a month that was closed', () => {
    const closed = book.events.findIndex(({ type }) => type === 'PeriodClosed');
    const event = book.events[closed + 1]!;
    const dated = { ...event, metadata: { ...event.metadata, occurredAt: '2026-04-30T23:59:59.999Z' } };
    expect(verify(rechained(book.events.with(closed + 1, dated)))).toMatchObject({
      firstBadRevision: BigInt(closed + 1),
      findings: [{ check: 'date' }],
    });
  });

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

  it('finds a date after its record time by the bound of CLOCK_REFUSE_MS', async () => {
    const last = book.events.at(-1)!;
    const recordedAt = Date.parse(last.metadata.occurredAt) - 15_000;
    async function* read() {
      yield* book.events.with(-1, { ...last, recordedAt });
    }
    const store = { read } as unknown as EventStore;
    const verified = async (bound: number) =>
      (
        await new VerifyLedgerHandler(store, { CLOCK_REFUSE_MS: bound, OPERATORS }).execute(
          new VerifyLedger(WS),
        )
      ).books[0]!;
    expect((await verified(10_000)).findings).toMatchObject([{ check: 'clock', revision: last.revision }]);
    expect((await verified(20_000)).findings).toEqual([]);
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

  it('reads one book, or every book of the log', async () => {
    const handler = new VerifyLedgerHandler(book.store, { CLOCK_REFUSE_MS: 10_000, OPERATORS });
    const {
      books: [report],
    } = await handler.execute(new VerifyLedger(WS));
    expect(report).toEqual(verify(book.events));
    expect(await handler.execute(new VerifyLedger(null))).toEqual({
      books: [report],
      corrections: [],
      compensated: [],
    });
    expect(await handler.execute(new VerifyLedger('ws_nobody'))).toEqual({
      books: [],
      corrections: [],
      compensated: [],
    });
  });
});
