import { beforeEach, describe, expect, it } from '@jest/globals';
import { streamName } from '#event-sourcing/core/stream-name.js';
import { ExplainReadingHandler } from './explain-reading.js';
import { ExplainReading } from '../contracts/index.js';
import { TestBook, WS } from '../../test/book.js';
import { eventsOfReading, writeReading } from '../../test/readings.js';

const AT = '2026-04-12T09:00:00.000Z';
let book: TestBook;

beforeEach(async () => {
  book = new TestBook();
  await book.do(AT, { type: 'OpenBook', workspaceId: WS });
  await book.do(AT, { type: 'PurchasePack', pack: 'flex', orderRef: 'o1' });
  await book.reserve(AT, 'r1');
});

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
    await book.settle(AT, command, 'r1');
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

  it('reports a settlement that is missing or does not match the end', async () => {
    await writeReading(book.store, 'r1', 'ReadingCompleted');
    expect((await explain())!.findings).toEqual([
      'ReadingCompleted end-r1 is not settled yet by CreditsCaptured',
    ]);
    await book.settle(AT, 'ReleaseCredits', 'r1', 'something else');
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

describe('explaining a reading that was requested again after its first reservation was abandoned', () => {
  const abandoned = eventsOfReading('r1', 'ReadingAbandoned');
  const [requested, completed] = eventsOfReading('r2', 'ReadingCompleted');
  const write = async (events: readonly (typeof abandoned)[number][]) => {
    await book.store.append(streamName('reading', 'reading-r1'), 'no_stream', events);
    await book.settle(AT, 'ReleaseCredits', 'r1');
    await book.reserve(AT, 'r2', 'reading-r1');
  };
  const findings = async () => (await explain())!.findings;
  const RETRIED = [...abandoned, requested!, completed!];

  it.each([
    ['before', RETRIED],
    ['after', [requested!, completed!, ...abandoned]],
  ])('is completed and right with one capture, abandoned %s its end', async (_, events) => {
    await write(events);
    await book.settle(AT, 'CaptureCredits', 'r2');
    expect(await explain()).toMatchObject({ outcome: 'completed', findings: [] });
  });

  it('is a finding when its credits were released, or captured twice', async () => {
    await write(RETRIED);
    await book.settle(AT, 'ReleaseCredits', 'r2');
    const released = book.events.at(-1)!;
    const other = `ReadingCompleted end-r2 was settled by CreditsReleased ${released.id}`;
    expect(await findings()).toEqual([other]);
    const { reservationId, readingId, amount } = released.data as Record<string, unknown>;
    const data = { reservationId, readingId, amount, causeEventId: 'end-r2' };
    const again = { ...released, id: 'again', type: 'CreditsCaptured', data };
    await book.store.append(released.stream, released.revision, [again]);
    expect(await findings()).toEqual([other, 'ReadingCompleted end-r2 was settled 2 times']);
  });
});
