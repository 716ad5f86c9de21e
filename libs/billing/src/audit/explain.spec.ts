import { beforeEach, describe, expect, it } from '@jest/globals';
import { ExplainReadingHandler } from '../application/audit/explain-reading.handler.js';
import { ExplainReading } from '../contracts/index.js';
import { TestBook, WS } from '../../test/book.js';
import { writeReading } from '../../test/readings.js';

const AT = '2026-04-12T09:00:00.000Z';
let book: TestBook;

beforeEach(async () => {
  book = new TestBook();
  await book.do(AT, { type: 'OpenBook', workspaceId: WS });
  await book.do(AT, { type: 'PurchasePack', pack: 'flex', orderRef: 'o1' });
  await book.do(AT, { type: 'ReserveCredits', reservationId: 'r1', readingId: 'reading-r1', amount: 20 });
});

const settle = (type: 'CaptureCredits' | 'ReleaseCredits', causeEventId = 'end-r1') =>
  book.do(AT, { type, reservationId: 'r1', causeEventId });
const explain = (workspaceId: string | null = null) =>
  new ExplainReadingHandler(book.store).execute(new ExplainReading('reading-r1', workspaceId));
const [RESERVATION, SETTLEMENT] = [2, 3];

describe('explaining a reading', () => {
  it.each([
    ['completed', 'ReadingCompleted', 'CaptureCredits', 'CreditsCaptured', 'consumed'],
    ['failed', 'ReadingFailed', 'ReleaseCredits', 'CreditsReleased', 'available'],
  ] as const)('that %s shows both movements, with causes both ways', async (...of) => {
    const [outcome, end, command, settlement, to] = of;
    await writeReading(book.store, 'r1', end);
    await settle(command);
    const ids = book.events.map(({ id }) => id);
    expect(await explain()).toMatchObject({
      workspaceId: WS,
      outcome,
      credits: [
        {
          type: 'CreditsReserved',
          eventId: ids[RESERVATION],
          cause: { eventId: 'request-r1', type: 'ReadingRequested' },
          allocations: [{ grantId: 'pack:o1:flex', amount: 20 }],
        },
        {
          type: settlement,
          eventId: ids[SETTLEMENT],
          cause: { eventId: 'end-r1', type: end },
          postings: [
            { account: 'held', amount: -20 },
            { account: to, amount: 20 },
          ],
          paidBy: to === 'consumed' ? [{ grantId: 'pack:o1:flex', credits: 20, cents: 1_160 }] : [],
        },
      ],
      reading: [
        { eventId: 'request-r1', causes: [ids[RESERVATION]] },
        { eventId: 'end-r1', causes: [ids[SETTLEMENT]] },
      ],
      findings: [],
    });
  });

  it('that was abandoned shows the reservation without a request, and its release', async () => {
    await writeReading(book.store, 'r1', 'ReadingAbandoned');
    await settle('ReleaseCredits');
    expect(await explain()).toMatchObject({
      outcome: 'abandoned',
      credits: [
        { type: 'CreditsReserved', cause: null },
        { type: 'CreditsReleased', cause: { eventId: 'end-r1', type: 'ReadingAbandoned' } },
      ],
      findings: [],
    });
  });

  it('reports a settlement that is missing or does not match the end', async () => {
    await writeReading(book.store, 'r1', 'ReadingCompleted');
    expect((await explain())!.findings).toEqual([
      'ReadingCompleted end-r1 is not settled yet by CreditsCaptured',
    ]);
    await settle('ReleaseCredits', 'something else');
    const id = book.events[SETTLEMENT]!.id;
    expect((await explain())!.findings).toEqual([
      `CreditsReleased ${id} names no event of the reading`,
      `ReadingCompleted end-r1 was settled by CreditsReleased ${id}`,
    ]);
  });

  it('that was never accepted is found in the book of its workspace', async () => {
    expect(await explain()).toBeNull();
    expect(await explain(WS)).toMatchObject({ outcome: 'open', reading: [], credits: [{ cause: null }] });
    expect(await explain('ws_nobody')).toBeNull();
  });
});
