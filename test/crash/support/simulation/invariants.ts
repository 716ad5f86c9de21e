import { createHash } from 'node:crypto';
import type { PoolClient } from 'pg';
import { CreditBooks } from '@app/billing/application/credit-books.js';
import { createCreditsExecutor } from '@app/billing/credits.executor.js';
import { Reconciler } from '@app/billing/audit/reconcile.js';
import {
  READING_COST,
  creditsEvents,
  type Balance,
  type CreditsEvent,
} from '@app/billing/contracts/index.js';
import { balanceOf } from '@app/billing/domain/credits/balance.js';
import { credits } from '@app/billing/domain/credits/credits.decider.js';
import type { Credits } from '@app/billing/domain/credits/credits.state.js';
import { violations } from '@app/billing/domain/credits/invariants.js';
import { canonicalJson } from '@app/event-sourcing/core/canonical-json.js';
import { fold } from '@app/event-sourcing/core/decider.js';
import { decode } from '@app/event-sourcing/core/event-catalogue.js';
import type { Recorded } from '@app/event-sourcing/core/event.js';
import { categoryOf, streamId } from '@app/event-sourcing/core/stream-name.js';
import { runSteps } from '@app/event-sourcing/projections/statement.js';
import { publicationEvents, type PublicationEvent } from '@app/publishing/contracts/index.js';
import { readingEvents, type ReadingEvent } from '@app/readings/contracts/index.js';
import { readingDecider } from '@app/readings/domain/reading/reading.decider.js';
import { publicEventOf, type PublicEvent } from '@app/webhooks/domain/delivery/public-event.js';
import type { Customer } from './customers.js';
import { checkErasures } from './erasures.js';
import { statementOf, type Query, type Values } from './statement.js';
import { ViewRows, type Row } from './view-rows.js';
import type { World } from './world.js';

type Tell = (breach: string) => void;
type ByStream<E extends Recorded> = ReadonlyMap<string, readonly E[]>;

interface History {
  readonly readings: ByStream<Recorded<ReadingEvent>>;
  readonly publications: ByStream<Recorded<PublicationEvent>>;
  readonly books: ByStream<Recorded<CreditsEvent>>;
}

/** What must hold once all is done, whatever happened on the way. Answers one sentence for each breach. */
export const breachesOf = async (world: World, customers: readonly Customer[]): Promise<string[]> => {
  const breaches = [...new Set(world.alarms)];
  const tell: Tell = (breach) => breaches.push(breach);
  const history = historyOf(world);
  checkReadings(history, tell);
  checkKeys(world, history, tell);
  checkPublications(world, history, tell);
  checkErasures(world, tell);
  checkCustomers(history, customers, tell);
  checkHolds(history, tell);
  await checkBooks(world, history, tell);
  checkReconciliation(world, tell);
  checkDeliveries(world, tell);
  checkViews(world, history, tell);
  await checkRebuilt(world, tell);
  return breaches;
};

const historyOf = ({ store }: World): History => {
  const readings = new Map<string, Recorded<ReadingEvent>[]>();
  const publications = new Map<string, Recorded<PublicationEvent>[]>();
  const books = new Map<string, Recorded<CreditsEvent>[]>();
  const add = <E>(to: Map<string, E[]>, id: string, event: E) => to.set(id, [...(to.get(id) ?? []), event]);
  for (const stored of store.log) {
    const id = streamId(stored.stream);
    switch (categoryOf(stored.stream)) {
      case readingEvents.category:
        add(readings, id, decode(readingEvents, stored));
        break;
      case publicationEvents.category:
        add(publications, id, decode(publicationEvents, stored));
        break;
      case creditsEvents.category:
        add(books, id, decode(creditsEvents, stored));
        break;
      default:
    }
  }
  return { readings, publications, books };
};

const count = (events: readonly Recorded[], ...types: readonly string[]): number =>
  events.filter(({ type }) => types.includes(type)).length;

const checkReadings = ({ readings, publications }: History, tell: Tell): void => {
  for (const [id, events] of readings) {
    const requested = count(events, 'ReadingRequested');
    const ended = count(events, 'ReadingCompleted', 'ReadingFailed');
    if (requested > 1) tell(`reading ${id} was requested ${requested} times`);
    if (ended !== requested) tell(`reading ${id} was requested ${requested} times and ended ${ended} times`);
    const published = count(publications.get(id) ?? [], 'DocumentPublished');
    const isErased = count(events, 'ReadingErased') > 0;
    const due = count(events, 'ReadingCompleted');
    if (isErased ? published > due : published !== due)
      tell(`reading ${id} was published ${published} times`);
    const attempts = events.flatMap((event) => (event.type === 'ReadingStarted' ? [event.data.attempt] : []));
    if (attempts.some((attempt, index) => attempt !== index + 1))
      tell(`reading ${id} lost count of its attempts`);
  }
};

/** Every reading that is not erased can be opened, and no key is left of a request that never became one. */
const checkKeys = ({ tables }: World, { readings }: History, tell: Tell): void => {
  for (const [id, events] of readings) {
    if (count(events, 'ReadingErased') > 0) continue;
    if (count(events, 'ReadingRequested') > 0 && !tables.subjectKeys.has(id))
      tell(`reading ${id} has lost its key`);
  }
  for (const id of tables.subjectKeys.keys()) {
    if (count(readings.get(id) ?? [], 'ReadingRequested') === 0)
      tell(`a key is left of ${id}, which is no reading`);
  }
};

/** What is stored was rendered with the instant that is recorded: every repeat yields the same bytes. */
const checkPublications = ({ tables }: World, { publications, readings }: History, tell: Tell): void => {
  for (const [id, events] of publications) {
    if (count(readings.get(id) ?? [], 'ReadingErased') > 0) continue;
    for (const event of events) {
      if (event.type !== 'DocumentPublished') continue;
      const { publishedAt, version } = event.data;
      const rendered = createHash('sha256').update(JSON.stringify({ publishedAt })).digest('hex');
      if (tables.artifacts.get(`${id}|${version}|document_v1`)?.['digest'] !== rendered) {
        tell(`the document of reading ${id} is not the one that was published`);
      }
    }
  }
};

const checkCustomers = ({ readings }: History, customers: readonly Customer[], tell: Tell): void => {
  for (const { idempotencyKey, workspaceId, accepted } of customers) {
    if (accepted.size > 1) tell(`${idempotencyKey} of ${workspaceId} was answered with several readings`);
    for (const id of accepted) {
      if (count(readings.get(id) ?? [], 'ReadingRequested') !== 1)
        tell(`reading ${id} was accepted, but is not there`);
    }
  }
};

const checkHolds = ({ readings, books }: History, tell: Tell): void => {
  const ledger = [...books.values()].flat();
  for (const [id, events] of readings) {
    for (const event of events) {
      if (event.type !== 'ReadingRequested') continue;
      const { reservationId } = event.data;
      const held = ledger.find(
        (one) => one.type === 'CreditsReserved' && one.data.reservationId === reservationId,
      );
      if (!held || held.position > event.position) tell(`reading ${id} was accepted without a hold`);
    }
  }
  for (const hold of ledger) {
    if (hold.type !== 'CreditsReserved') continue;
    const { reservationId, readingId } = hold.data;
    const settled = ledger.filter(
      (one) =>
        (one.type === 'CreditsCaptured' || one.type === 'CreditsReleased') &&
        one.data.reservationId === reservationId,
    );
    if (settled.length !== 1) tell(`hold ${reservationId} was settled ${settled.length} times`);
    const isCompleted = (readings.get(readingId) ?? []).some(
      (event) => event.type === 'ReadingCompleted' && event.data.reservationId === reservationId,
    );
    const isCaptured = settled.some(({ type }) => type === 'CreditsCaptured');
    if (isCaptured !== isCompleted) {
      tell(
        `hold ${reservationId} was ${isCaptured ? '' : 'not '}captured, its reading ${isCompleted ? '' : 'not '}completed`,
      );
    }
  }
};

const checkBooks = async (world: World, { books, readings }: History, tell: Tell): Promise<void> => {
  for (const [workspaceId, events] of books) {
    for (const breach of violations(events)) tell(`book of ${workspaceId}: ${breach}`);
    const state = fold(credits, credits.initialState, events);
    const { held, consumed } = balanceOf(state);
    const completed = [...readings.values()]
      .flat()
      .filter((event) => event.type === 'ReadingCompleted' && event.data.workspaceId === workspaceId);
    if (consumed !== READING_COST * completed.length) {
      tell(`${workspaceId} consumed ${consumed} credits for ${completed.length} completed readings`);
    }
    if (held !== 0) tell(`${workspaceId} still holds ${held} credits`);
    const loaded = await loadedBook(world, workspaceId);
    if (canonicalJson(comparable(loaded)) !== canonicalJson(comparable(state))) {
      tell(
        `the book of ${workspaceId} loaded from its last closing is not the book folded from its beginning`,
      );
    }
  }
  for (const [id, events] of readings) {
    const state = fold(readingDecider, readingDecider.initialState, events);
    const status = world.tables.views.of('readings.reading').get(id)?.['status'] ?? 'none';
    if (status !== state.status) {
      tell(`reading ${id} is ${state.status} in its stream and ${status as string} in the view`);
    }
  }
};

/** What is settled lately is remembered in generations that rotate at a closing: not part of the comparison. */
const comparable = ({ settled: _, ...book }: Credits): object => book;

const loadedBook = async ({ store, scheduler }: World, workspaceId: string): Promise<Credits> => {
  const books = new CreditBooks(createCreditsExecutor(store), { now: () => scheduler.now });
  // As a command would find it, before what time made due since.
  const { executor } = books as unknown as { executor: { load(id: string): Promise<{ state: Credits }> } };
  return (await executor.load(workspaceId)).state;
};

const checkReconciliation = ({ store, tables }: World, tell: Tell): void => {
  const balances = [...tables.views.of('billing.balance')].map(([workspaceId, row]) => {
    const { available, held, consumed, expired, granted, adjusted } = row as unknown as Balance;
    const balance = { available, held, consumed, expired, granted, adjusted };
    return [workspaceId, { revision: BigInt(row['revision'] as string), balance }] as const;
  });
  const reconciler = new Reconciler(null, new Map(balances));
  for (const event of store.log) reconciler.see(event);
  const { differences, pending } = reconciler.report(Infinity);
  for (const { message, workspaceId } of [...differences, ...pending]) tell(`${workspaceId}: ${message}`);
};

/**
 * Replays the log: each public event goes once to each endpoint that was there before it, numbered in its order. A
 * failure is told where its credits are released, and not before.
 */
const checkDeliveries = ({ store, tables }: World, tell: Tell): void => {
  const endpoints: { id: string; workspaceId: string }[] = [];
  const failures = new Map<string, PublicEvent>();
  const sequences = new Map<string, number>();
  const places: string[] = [];
  const expected: string[] = [];
  const isTold = (told: PublicEvent, position: bigint): void => {
    const sequence = (sequences.get(told.readingId) ?? 0) + 1;
    sequences.set(told.readingId, sequence);
    places.push(`${told.eventId} ${position}`);
    for (const { id, workspaceId } of endpoints) {
      if (workspaceId === told.workspaceId) expected.push(`${id} ${told.eventId} ${sequence}`);
    }
  };
  for (const stored of store.log) {
    const { position } = stored;
    switch (categoryOf(stored.stream)) {
      case 'webhookEndpoint':
        endpoints.push({ id: streamId(stored.stream), workspaceId: stored.metadata.workspaceId });
        break;
      case creditsEvents.category: {
        const event = decode(creditsEvents, stored);
        const failure = event.type === 'CreditsReleased' && failures.get(event.data.causeEventId);
        if (failure) isTold(failure, position);
        break;
      }
      case readingEvents.category: {
        const event = decode(readingEvents, stored);
        const told = publicEventOf(event);
        if (told && event.type === 'ReadingFailed') failures.set(stored.id, told);
        else if (told) isTold(told, position);
        break;
      }
      case publicationEvents.category: {
        const told = publicEventOf(decode(publicationEvents, stored));
        if (told) isTold(told, position);
        break;
      }
      default:
    }
  }
  const sent = tables.deliveries.map(
    ({ endpointId, eventId, sequence }) => `${endpointId} ${eventId} ${sequence}`,
  );
  if (sent.toSorted().join() !== expected.toSorted().join()) {
    tell(`deliveries differ: ${sent.length} made, ${expected.length} due`);
  }
  const feed = [...tables.publicEvents].map(([eventId, { position }]) => `${eventId} ${position}`);
  if (feed.toSorted().join() !== places.toSorted().join())
    tell('events are told elsewhere than they happened');
  const untold = tables.unreleasedFailures.size;
  if (untold > 0) tell(`${untold} failures were never told`);
};

const checkViews = ({ tables: { views } }: World, { readings }: History, tell: Tell): void => {
  const holds = views.of('billing.hold').size;
  if (holds > 0) tell(`the view of holds still has ${holds}`);
  for (const [id, { status, document_version: version, erased_at: erasedAt }] of views.of(
    'readings.reading',
  )) {
    if (erasedAt === null && (version !== null) !== (status === 'completed'))
      tell(`reading ${id} is ${status as string}, but not published in the view`);
    if (!readings.has(id)) tell(`the view has a reading ${id} that no stream has`);
  }
};

/** However often and in whatever pieces events came, rows are those of the whole log folded once. */
const checkRebuilt = async ({ store, tables, consumers }: World, tell: Tell): Promise<void> => {
  const anew = new ViewRows();
  const query = async (text: Query, values?: Values) =>
    anew.run(...statementOf(text, values)) ?? { rows: [] };
  for (const { name, categories, steps } of consumers.values()) {
    const events = store.log.filter(({ stream }) => categories.includes(categoryOf(stream)));
    await runSteps({ query } as unknown as PoolClient, steps(events)).catch((error: unknown) =>
      tell(`${name} cannot handle the log: ${String(error)}`),
    );
  }
  for (const table of anew.tables.keys()) {
    const contents = (of: ViewRows) => canonicalJson([...of.of(table)].toSorted(byId));
    if (contents(tables.views) !== contents(anew)) tell(`${table} is not what the log folds to`);
  }
};

const byId = ([one]: readonly [string, Row], [other]: readonly [string, Row]): number =>
  one < other ? -1 : 1;
