import { CHAIN_START, chainedFacts, nextChain } from '#event-sourcing/core/hash-chain.js';
import type { EventToAppend, StoredEvent } from '#event-sourcing/core/event.js';
import type { ExpectedRevision } from '#event-sourcing/store/event-store.js';
import { uuid5 } from '#event-sourcing/core/event-id.js';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { CreditBooks } from '../src/application/credit-books.js';
import { creditsEvents, type CreditsEvent } from '../src/contracts/events.js';
import { createCreditsExecutor } from '../src/executors.js';
import type { SentCommand } from '../src/domain/credits.commands.js';
import { STREAM, WS } from './book.js';
import { packPurchased, reserved } from './events.js';

const OPENED = '2026-04-10T12:00:00.000Z';
const BY = { actor: 'system:crowd', correlationId: 'crowd', causationId: 'crowd' };
const COST = 20;
/** Readings that a pack of 2,000 credits pays for. */
const READINGS = 100;

const uuid = (index: number): string => `4f1c2e9d-6a4c-5f8e-8b5a-7d9c2f${String(index).padStart(6, '0')}`;

/** A store that fails once, before an append of the caller's choice. */
class FailingStore extends InMemoryEventStore {
  appends = 0;
  failingAppend = Infinity;

  override append(stream: string, expected: ExpectedRevision, events: readonly EventToAppend[]) {
    this.appends += 1;
    if (this.appends === this.failingAppend) throw new Error('the process was killed');
    return super.append(stream, expected, events);
  }
}

/** A book with thousands of open holds or packs. Each process that works on it reads it anew. */
export class CrowdedBook {
  now = Date.parse(OPENED);
  readonly store = new FailingStore();

  /**
   * @param holds open reservations
   * @param packs by default, as many as the reservations need
   */
  static async with(holds: number, packs = Math.ceil(holds / READINGS)): Promise<CrowdedBook> {
    const book = new CrowdedBook();
    await book.record([
      { type: 'BookOpened', data: { workspaceId: WS, period: '2026-04' } },
      ...Array.from({ length: packs }, (_, index) => packPurchased('burst', `o${index}`)),
      ...Array.from({ length: holds }, (_, index) =>
        reserved(uuid(index), [`pack:o${Math.floor(index / READINGS)}:burst`, COST]),
      ),
    ]);
    return book;
  }

  get events(): StoredEvent[] {
    return this.store.log;
  }

  /** Another process, which has nothing in memory. */
  process() {
    const books = new CreditBooks(createCreditsExecutor(this.store, 10_000), { now: () => this.now });
    const run = (intent: string, command: (now: number) => SentCommand) =>
      books.execute(WS, command, intent, BY);
    return {
      due: () => run('due', (now) => ({ type: 'RecordDue', now })),
      capture: (index: number) =>
        run(`capture:${index}`, (now) => ({
          type: 'CaptureCredits',
          reservationId: uuid(index),
          causeEventId: `end of ${index}`,
          now,
        })),
    };
  }

  private async record(events: readonly CreditsEvent[]): Promise<void> {
    let chain = CHAIN_START;
    for (const [index, event] of events.entries()) {
      const { version: schemaVersion } = creditsEvents.definitions[event.type];
      const metadata = { ...BY, workspaceId: WS, occurredAt: OPENED, schemaVersion };
      const revision = BigInt(index);
      const id = uuid5('crowd', String(index));
      const stored = { id, stream: STREAM, revision, position: 0n, ...event, metadata };
      chain = nextChain(chain, chainedFacts(stored));
      const expected = index === 0 ? 'no_stream' : revision - 1n;
      const own = { id, ...event, metadata: { ...metadata, chain } };
      await InMemoryEventStore.prototype.append.call(this.store, STREAM, expected, [own]);
    }
  }
}

/** So many that a close has parts. */
const HOLDS = 3_000;

/** A book with two closes in parts, and a capture after each. */
export const bookClosedInParts = async (): Promise<CrowdedBook> => {
  const book = await CrowdedBook.with(HOLDS);
  for (const [index, day] of ['2026-05-03', '2026-06-02'].entries()) {
    book.now = Date.parse(day);
    await book.process().due();
    await book.process().capture(index);
  }
  if (!book.events.some(({ type }) => type === 'PeriodCarried')) throw new Error('It closed in one piece');
  return book;
};
