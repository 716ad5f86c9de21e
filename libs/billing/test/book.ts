import { instant } from '#event-sourcing/core/clock.js';
import { streamName } from '#event-sourcing/core/stream-name.js';
import type { SetAside, StoredEvent } from '#event-sourcing/core/event.js';
import { CHAIN_START, chainedFacts, nextChain } from '#event-sourcing/core/hash-chain.js';
import { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import { CorrectionBooks } from '../src/application/corrections.js';
import { CreditBooks } from '../src/application/credit-books.js';
import { createCreditsExecutor } from '../src/executors.js';
import { BookExport } from '../src/audit/export-book.js';
import { BookVerifier, chainAfter } from '../src/audit/verify-book.js';
import type { EntryToBook, SentCommand } from '../src/domain/credits.decider.js';
import { Reversals } from '../src/domain/value.js';
import { adjustment, knownIn } from './adjustment.js';
import { signedCommand } from './operators.js';

export const WS = 'ws_0000000000000000000001';
export const STREAM = streamName('credits', WS);

type UntimedCommand = SentCommand extends infer C ? (C extends SentCommand ? Omit<C, 'now'> : never) : never;

/** A book in a store in memory. The real decider writes it at times chosen by the spec. */
export class TestBook {
  readonly store = new InMemoryEventStore();
  private now = 0;
  private readonly books = new CreditBooks(createCreditsExecutor(this.store, 10_000), {
    now: () => this.now,
  });
  private commands = 0;

  constructor(readonly workspaceId = WS) {}

  async do(at: string, command: UntimedCommand): Promise<void> {
    this.now = Date.parse(at);
    this.commands += 1;
    const name = `command ${this.commands}`;
    const by = { actor: 'operator:ada', correlationId: name, causationId: name };
    const signed = command.type === 'BookCorrection' ? signedCommand(this.workspaceId, command) : command;
    const outcome = await this.books.execute(this.workspaceId, (now) => ({ ...signed, now }), name, by);
    if (outcome.kind !== 'accepted')
      throw new Error(`${command.type} at ${instant(this.now)}: ${outcome.kind}`);
  }

  /** Holds the credits of a reading. */
  reserve(at: string, reservationId: string, readingId = `reading-${reservationId}`): Promise<void> {
    const reservations = [{ reservationId, readingId }];
    return this.do(at, { type: 'ReserveCredits', reservations, amount: 20, all: true });
  }

  /** Settles a hold, since its reading has ended. */
  settle(
    at: string,
    type: 'CaptureCredits' | 'ReleaseCredits',
    reservationId: string,
    causeEventId = `end-${reservationId}`,
  ): Promise<void> {
    return this.do(at, { type, reservationId, causeEventId });
  }

  /** Books an entry of a correction that two operators signed. @returns the id of its event */
  async correct(at: string, entry: Pick<EntryToBook, 'amount'> & Partial<EntryToBook>): Promise<string> {
    this.now = Date.parse(at);
    const correctionId = `c${(this.commands += 1)}`;
    const own = {
      reason: 'asked for',
      reversesEventId: null,
      reference: 'INC-42',
      expiresAt: null,
      grantId: null,
    };
    const asked = { correctionId, approvedBy: 'grace', actor: 'operator:ada' } as const;
    const entries = [{ adjustmentId: correctionId, ...own, ...entry }];
    const command = { ...asked, type: 'BookCorrection', entries, known: new Reversals() } as const;
    const refusal = await new CorrectionBooks(this.books, this.store).bookOne(
      this.workspaceId,
      signedCommand(this.workspaceId, command),
      { actor: 'operator:ada', correlationId: correctionId, causationId: correctionId },
    );
    if (refusal) throw new Error(JSON.stringify(refusal));
    return this.events.at(-1)!.id;
  }

  get events(): StoredEvent[] {
    const own = streamName('credits', this.workspaceId);
    return this.store.log.filter(({ stream }) => stream === own);
  }
}

/** Events as a store reads them. */
export async function* streamOf(events: readonly StoredEvent[]): AsyncGenerator<StoredEvent> {
  yield* events;
}

/** Puts a history into a store, entry by entry. */
export const storeAll = async (store: InMemoryEventStore, events: readonly StoredEvent[]): Promise<void> => {
  for (const { stream, revision, id, type, data, metadata } of events)
    await store.append(stream, revision === 0n ? 'no_stream' : revision - 1n, [{ id, type, data, metadata }]);
};

/** A verifier that has seen these events of a book. */
export const verifierOf = (events: readonly StoredEvent[]): BookVerifier => {
  const verifier = new BookVerifier(events[0]!.stream, 10_000);
  for (const event of events) verifier.see(event);
  return verifier;
};

/** The export of a book's events, as the service writes it. */
export const exportOf = async (
  events: readonly StoredEvent[],
  format: 'csv' | 'jsonl' = 'jsonl',
  period: string | null = null,
): Promise<string> => {
  let text = '';
  for await (const piece of new BookExport(events[0]!.stream, format, period).text(streamOf(events)))
    text += piece;
  return text;
};

/** Gives every event a matching chain value, as someone who rewrites the whole history would. */
export const rechained = (events: readonly StoredEvent[]): StoredEvent[] => {
  let chain = CHAIN_START;
  return events.map((event) => {
    chain = chainAfter(chain, event);
    return { ...event, metadata: { ...event.metadata, chain } };
  });
};

/** Renumbers the events without a gap, as a store does. */
export const renumbered = (events: readonly StoredEvent[]): StoredEvent[] =>
  events.map((event, index) => ({ ...event, revision: BigInt(index) }));

/** The same event with other data. */
export const altered = (event: StoredEvent, change: Record<string, unknown>): StoredEvent => ({
  ...event,
  data: { ...(event.data as object), ...change },
});

/** A book that was opened on 10 April 2026. */
export const openedBook = async (): Promise<TestBook> => {
  const book = new TestBook();
  await book.do('2026-04-10T12:00:00Z', { type: 'OpenBook', workspaceId: WS });
  return book;
};

/**
 * A book with every kind of entry: plan, pack, captures, a release, corrections, a late release of an expired grant,
 * and two closed months. Its texts look like spreadsheet formulas.
 */
export const eventfulBook = async (workspaceId = WS): Promise<TestBook> => {
  const book = new TestBook(workspaceId);
  await book.do('2026-04-10T12:00:00Z', { type: 'OpenBook', workspaceId });
  await book.do('2026-04-10T12:00:01Z', { type: 'SubscribeToPlan', plan: 'studio', approvalRef: null });
  await book.do('2026-04-11T09:00:00Z', { type: 'PurchasePack', pack: 'flex', orderRef: '+INV-1' });
  await book.reserve('2026-04-12T09:00:00Z', 'r1');
  await book.reserve('2026-04-12T09:00:00Z', 'r2');
  await book.settle('2026-04-12T09:00:01Z', 'CaptureCredits', 'r1');
  await book.settle('2026-04-12T09:00:02Z', 'ReleaseCredits', 'r2');
  const formula = '=HYPERLINK("http://evil","a, b")\nsecond line';
  const [up, down] = [
    { adjustmentId: 'a1', amount: 7, reason: formula },
    { adjustmentId: 'a2', amount: -5, reason: '-5 because' },
  ];
  await book.do('2026-04-13T09:00:00Z', adjustment({ ...up, reference: '@INC-42' }));
  await book.do('2026-04-14T09:00:00Z', adjustment({ ...down, reference: 'INC-42' }));
  await book.reserve('2026-05-09T09:00:00Z', 'r3');
  await book.settle('2026-05-11T09:00:00Z', 'ReleaseCredits', 'r3');
  await book.reserve('2026-06-02T09:00:00Z', 'r4');
  return book;
};

/** A book whose months were closed late, several at once. */
export const idleBook = async (): Promise<TestBook> => {
  const book = await openedBook();
  await book.do('2026-04-11T09:00:00Z', { type: 'PurchasePack', pack: 'sprint', orderRef: 'o1' });
  await book.reserve('2026-04-12T09:00:00Z', 'r1');
  await book.do('2026-08-01T09:00:00Z', { type: 'RecordDue' });
  return book;
};

/** Every member that an entry of an operator may have. */
export const correctedBook = async (): Promise<TestBook> => {
  const book = await openedBook();
  const entry = { reason: 'a clock was wrong', reference: 'INC-42', grantId: null };
  const signed = { correctionId: 'c1', approvedBy: 'grace', actor: 'operator:ada' } as const;
  await book.do('2026-04-11T09:00:00Z', { type: 'SubscribeToPlan', plan: 'studio', approvalRef: 'A-1' });
  await book.do('2026-04-12T09:00:00Z', { type: 'PurchasePack', pack: 'sprint', orderRef: 'o1' });
  await book.do('2026-04-12T09:01:00Z', { type: 'PurchasePack', pack: 'flex', orderRef: 'o1' });
  await book.do('2026-04-13T09:00:00Z', {
    type: 'BookCorrection',
    ...signed,
    entries: [
      {
        ...entry,
        adjustmentId: 'c1-0',
        amount: 20,
        reversesEventId: null,
        expiresAt: '2026-05-20T00:00:00.000Z',
      },
      {
        ...entry,
        adjustmentId: 'c1-1',
        amount: -50,
        reversesEventId: book.events.at(-1)!.id,
        expiresAt: null,
      },
    ],
    known: knownIn(book.events),
  });
  await book.do('2026-04-14T09:00:00Z', { type: 'SubscribeToPlan', plan: 'pro', approvalRef: null });
  await book.do('2026-05-12T09:00:00Z', { type: 'CancelSubscription', reference: 'TICKET-9' });
  await book.do('2026-07-01T09:00:00Z', { type: 'RecordDue' });
  return book;
};

/**
 * Appends an entry that this program does not know.
 * @param chained with its chain value, as a newer program would write it; otherwise as another program would
 */
export const appendUnknown = async (book: TestBook, chained: boolean, id = 'odd'): Promise<StoredEvent> => {
  const last = book.events.at(-1)!;
  const { chain: before, ...metadata } = last.metadata;
  const event = { id, type: 'CreditsVanished', data: { amount: 7 }, metadata };
  const facts = { ...event, stream: last.stream, revision: last.revision + 1n, position: 0n };
  const chain = nextChain(before ?? book.events.at(-2)!.metadata.chain!, chainedFacts(facts));
  await book.store.append(last.stream, last.revision, [
    chained ? { ...event, metadata: { ...metadata, chain } } : event,
  ]);
  return book.events.at(-1)!;
};

/** What an operator's decision to pass over an entry adds to it. */
export const SET_ASIDE: SetAside = {
  consumers: null,
  by: 'operator:ada',
  reason: 'of a version that was rolled back',
  at: '2026-06-03T09:00:00.000Z',
};

export const setAside = (event: StoredEvent): void => void Object.assign(event, { setAside: SET_ASIDE });

/** A book with two entries that are passed over: one is a link of its chain, the other is not. */
export const bookWithSetAside = async (): Promise<TestBook> => {
  const book = await eventfulBook();
  setAside(await appendUnknown(book, true, 'newer'));
  setAside(await appendUnknown(book, false, 'foreign'));
  await book.settle('2026-06-03T09:00:01Z', 'CaptureCredits', 'r4');
  return book;
};

/** Changes to a history, and the revision where each first shows. */
export const TAMPERINGS: readonly (readonly [
  name: string,
  tamper: (events: readonly StoredEvent[]) => StoredEvent[],
  firstBad: number,
])[] = [
  ['an amount is changed', (events) => events.with(3, altered(events[3]!, { credits: 5_000 })), 3],
  ['an event is dropped and the rest renumbered', (events) => renumbered(events.toSpliced(4, 1)), 4],
  [
    'two events are swapped and renumbered',
    (events) => renumbered(events.with(5, events[6]!).with(6, events[5]!)),
    5,
  ],
  [
    'an event is changed and given a matching chain value',
    (events) =>
      events.with(3, rechained(events.with(3, altered(events[3]!, { actor: 'operator:somebody' })))[3]!),
    4,
  ],
];
