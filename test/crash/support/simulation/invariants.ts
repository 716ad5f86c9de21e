import {
  creditsEvents,
  testBookEvents,
  type CreditsEvent,
  READING_COST,
  type Balance,
} from '#billing/contracts/index.js';
import { decode, type EventCatalogue } from '#event-sourcing/core/event-catalogue.js';
import type { Recorded } from '#event-sourcing/core/event.js';
import { categoryOf, streamId } from '#event-sourcing/core/stream-name.js';
import { publicationEvents, type PublicationEvent } from '#publishing/contracts/index.js';
import { readingEvents, type ReadingEvent } from '#readings/contracts/index.js';
import { rowsOf, type Row } from './postgres.js';
import { type World, WRAPPING_KEYS } from './world.js';
import { CreditBooks } from '#billing/application/credit-books.js';
import { createCreditsExecutor } from '#billing/executors.js';
import { balanceOf } from '#billing/domain/postings.js';
import { credits } from '#billing/domain/credits.decider.js';
import type { Credits } from '#billing/domain/credits.state.js';
import { violations } from '../../../../libs/billing/test/violations.js';
import { canonicalJson } from '#event-sourcing/core/canonical-json.js';
import { fold } from '#event-sourcing/core/decider.js';
import { readingDecider } from '#readings/domain/reading.decider.js';
import { Reconciler } from '#billing/audit/reconcile.js';
import { publicEventOf, type PublicEvent } from '#webhooks/domain/public-event.js';
import type { Customer } from './customers.js';
import { foldRows, type RowFold } from '#event-sourcing/projections/view.js';
import type { PoolClient } from 'pg';
import { type SubjectKey, SubjectKeys } from '#platform/crypto/subject-keys.js';
import { placeOf, plainPool } from './faults.js';
import { MOST_VERSIONS } from './service.js';

type ByStream<E extends Recorded> = ReadonlyMap<string, readonly E[]>;

/** A world at its end, with the decoded events of each stream by the id of the stream. */
interface Ended extends Pick<World, 'store' | 'lost' | 'postgres' | 'consumers' | 'scheduler'> {
  readonly readings: ByStream<Recorded<ReadingEvent>>;
  readonly publications: ByStream<Recorded<PublicationEvent>>;
  readonly books: ByStream<Recorded<CreditsEvent>>;
  readonly testBooks: ByStream<Recorded<CreditsEvent>>;
  /** The rows of a table, as JSON values. */
  readonly rows: (table: string) => readonly Row[];
  readonly keys: SubjectKeys;
  readonly customers: readonly Customer[];
  /** Reports a breach, in one sentence. */
  readonly report: (breach: string) => void;
}

const endOf = async (
  { store, lost, postgres, consumers, scheduler }: World,
  customers: readonly Customer[],
  report: Ended['report'],
): Promise<Ended> => {
  const contents = await postgres.copy();
  const of = <E extends Recorded>(catalogue: EventCatalogue): ByStream<E> => {
    const streams = new Map<string, E[]>();
    for (const stored of store.log) {
      if (categoryOf(stored.stream) !== catalogue.category) continue;
      const id = streamId(stored.stream);
      streams.set(id, [...(streams.get(id) ?? []), decode(catalogue, stored) as unknown as E]);
    }
    return streams;
  };
  return {
    ...{ store, lost, postgres, consumers, scheduler, customers, report },
    keys: new SubjectKeys(plainPool(postgres), WRAPPING_KEYS),
    readings: of(readingEvents),
    publications: of(publicationEvents),
    books: of(creditsEvents),
    testBooks: of(testBookEvents),
    rows: (table) => rowsOf(contents, table),
  };
};

/** How many events have one of the types. */
export const count = (events: readonly Recorded[], ...types: readonly string[]): number =>
  events.filter(({ type }) => types.includes(type)).length;

const checkHolds = (livemode: boolean, { readings, report, ...ended }: Ended): void => {
  const ledger = [...(livemode ? ended.books : ended.testBooks).values()].flat();
  const movements = ledger.flatMap((event) =>
    'reservationId' in event.data ? [{ ...event, data: event.data }] : [],
  );
  for (const [id, events] of readings) {
    for (const event of events) {
      if (event.type !== 'ReadingRequested' || event.data.livemode !== livemode) continue;
      const { reservationId } = event.data;
      const held = movements.find(
        ({ type, data }) => type === 'CreditsReserved' && data.reservationId === reservationId,
      );
      if (!held || held.position > event.position) report(`reading ${id} was accepted without a hold`);
    }
  }
  for (const hold of movements) {
    if (hold.type !== 'CreditsReserved') continue;
    const { reservationId, readingId } = hold.data;
    const ofReading = readings.get(readingId) ?? [];
    if (ofReading.some(({ data }) => 'livemode' in data && data.livemode !== livemode))
      report(`reading ${readingId} is of the other mode than its hold ${reservationId}`);
    const settled = movements.filter(
      ({ type, data }) => type !== 'CreditsReserved' && data.reservationId === reservationId,
    );
    if (settled.length !== 1) report(`hold ${reservationId} was settled ${settled.length} times`);
    const isCompleted = ofReading.some(
      (event) => event.type === 'ReadingCompleted' && event.data.reservationId === reservationId,
    );
    const isCaptured = settled.some(({ type }) => type === 'CreditsCaptured');
    if (isCaptured !== isCompleted) {
      report(
        `hold ${reservationId} was ${isCaptured ? '' : 'not '}captured, its reading ${isCompleted ? '' : 'not '}completed`,
      );
    }
  }
};

const checkBooks = async (livemode: boolean, ended: Ended): Promise<void> => {
  const { readings, report } = ended;
  for (const [workspaceId, events] of livemode ? ended.books : ended.testBooks) {
    const book = `the ${livemode ? '' : 'test '}book of ${workspaceId}`;
    for (const breach of violations(events)) report(`${book}: ${breach}`);
    const state = fold(credits, credits.initialState, events);
    const { held, consumed } = balanceOf(state);
    const completed = [...readings.values()]
      .flat()
      .filter((event) => isCompletedIn(event, workspaceId, livemode));
    if (consumed !== READING_COST * completed.length)
      report(`${book}: ${consumed} credits are consumed for ${completed.length} completed readings`);
    if (held !== 0) report(`${book} still holds ${held} credits`);
    if (!livemode) continue;
    const loaded = await loadedBook(ended, workspaceId);
    if (canonicalJson(comparable(loaded)) !== canonicalJson(comparable(state)))
      report(`${book} loaded from its last closing is not the book folded from its beginning`);
  }
};

const isCompletedIn = ({ type, data }: ReadingEvent, workspaceId: string, livemode: boolean): boolean =>
  type === 'ReadingCompleted' && data.workspaceId === workspaceId && data.livemode === livemode;

/** Omits recent settlements from the comparison: the book keeps them in generations, which rotate at a closing. */
const comparable = ({ settled: _, ...book }: Credits): object => book;

const loadedBook = async ({ store, scheduler }: Ended, workspaceId: string): Promise<Credits> => {
  const books = new CreditBooks(createCreditsExecutor(store, 10_000), { now: () => scheduler.now });
  // The book as a command would load it, before it records what has become due.
  const { executor } = books as unknown as { executor: { load(id: string): Promise<{ state: Credits }> } };
  return (await executor.load(workspaceId)).state;
};

const checkReconciliation = (livemode: boolean, { store, rows, report }: Ended): void => {
  const columns = Object.keys(balanceOf(credits.initialState));
  const balances = rows('billing.balance')
    .filter(({ mode }) => (mode === 'live') === livemode)
    .map((row) => {
      const amounts = columns.map((column) => [column, row[column]] as const);
      const balance = Object.fromEntries(amounts) as unknown as Balance;
      return [
        row['workspace_id'] as string,
        { revision: BigInt(row['revision'] as number), balance },
      ] as const;
    });
  const reconciler = new Reconciler(null, new Map(balances), livemode);
  for (const event of store.log) reconciler.see(event);
  const { differences, pending } = reconciler.report(Infinity);
  for (const { message, workspaceId } of [...differences, ...pending]) report(`${workspaceId}: ${message}`);
};

/**
 * Replays the log: each public event goes once to each endpoint that existed before it, numbered in order. A failure is
 * published where its credits are released, and not before.
 */
const checkDeliveries = ({ store, rows, report }: Ended): void => {
  const endpoints: { id: string; workspaceId: string }[] = [];
  const failures = new Map<string, PublicEvent>();
  const sequences = new Map<string, number>();
  const places: string[] = [];
  const expected: string[] = [];
  const publish = (published: PublicEvent, position: bigint): void => {
    const sequence = (sequences.get(published.readingId) ?? 0) + 1;
    sequences.set(published.readingId, sequence);
    places.push(`${published.eventId} ${position}`);
    for (const { id, workspaceId } of endpoints) {
      if (workspaceId === published.workspaceId) expected.push(`${id} ${published.eventId} ${sequence}`);
    }
  };
  for (const stored of store.log) {
    const { position } = stored;
    switch (categoryOf(stored.stream)) {
      case 'webhookEndpoint':
        endpoints.push({ id: streamId(stored.stream), workspaceId: stored.metadata.workspaceId });
        break;
      case creditsEvents.category:
      case testBookEvents.category: {
        const event = decode(creditsEvents, stored);
        const failure = event.type === 'CreditsReleased' && failures.get(event.data.causeEventId);
        if (failure) publish(failure, position);
        break;
      }
      case readingEvents.category: {
        const event = decode(readingEvents, stored);
        const published = publicEventOf(event);
        if (published && event.type === 'ReadingFailed') failures.set(stored.id, published);
        else if (published) publish(published, position);
        break;
      }
      case publicationEvents.category: {
        const published = publicEventOf(decode(publicationEvents, stored));
        if (published) publish(published, position);
        break;
      }
      default:
    }
  }
  const sent = rows('webhooks.delivery').map(
    (row) => `${row['endpoint_id'] as string} ${row['event_id'] as string} ${row['sequence'] as number}`,
  );
  if (sent.toSorted().join() !== expected.toSorted().join()) {
    report(`deliveries differ: ${sent.length} made, ${expected.length} due`);
  }
  const feed = rows('webhooks.public_event').map(
    (row) => `${row['event_id'] as string} ${row['position'] as number}`,
  );
  if (feed.toSorted().join() !== places.toSorted().join())
    report('events are published at another position than expected');
  const unpublished = rows('webhooks.unreleased_failure').length;
  if (unpublished > 0) report(`${unpublished} failures were never published`);
};

/**
 * Live and test never mix: each reading has one mode in all its events and views, and it is that of the customer who was
 * answered with it. That each is charged to the book of its mode is checked with the books.
 */
const checkModes = ({ store, readings, publications, rows, customers, report }: Ended): void => {
  const modes = new Map<string, Set<boolean>>();
  for (const [id, events] of [...readings, ...publications])
    for (const { data } of events)
      if ('livemode' in data) modes.set(id, (modes.get(id) ?? new Set()).add(data.livemode));
  for (const [id, seen] of modes) if (seen.size > 1) report(`reading ${id} is of both modes`);
  for (const { livemode, idempotencyKey, accepted } of customers)
    for (const id of accepted)
      if (!modes.get(id)?.has(livemode))
        report(`${idempotencyKey} was answered with ${id} of the other mode`);
  for (const { reading_id: id, livemode } of rows('readings.reading'))
    if (!modes.get(id as string)?.has(livemode as boolean))
      report(`reading ${id as string} is of the other mode in the view`);

  // No entry of a live book is caused by an event of a test reading.
  const ofTest = new Set(
    store.log.filter(({ stream }) => modes.get(streamId(stream))?.has(false)).map(({ id }) => id),
  );
  for (const { stream, revision, metadata } of store.log)
    if (stream.startsWith('credits-') && ofTest.has(metadata.causationId))
      report(`${stream}@${revision} was caused by a test reading`);
};

const checkViews = ({ lost, readings, rows, report }: Ended): void => {
  const holds = rows('billing.hold').length;
  if (holds > 0) report(`the view still has ${holds} holds`);
  for (const { reading_id: id, status, document_version: version, erased_at: erasedAt } of rows(
    'readings.reading',
  ) as readonly Record<string, string | null>[]) {
    if (erasedAt === null && !lost.keys.has(id!) && (version !== null) !== (status === 'completed'))
      report(`reading ${id} is ${status}, but not published in the view`);
    if (!readings.has(id!)) report(`the view has a reading ${id} that no stream has`);
  }
};

/** However often and in whatever batches events arrived, the rows equal one fold of the whole log. */
const checkRebuilt = async ({ store, postgres, consumers, rows, report }: Ended): Promise<void> => {
  const folds = [...consumers.values()].flatMap(({ categories, steps }) =>
    steps(store.log.filter(({ stream }) => categories.includes(categoryOf(stream)))).filter(
      (step): step is RowFold => 'view' in step,
    ),
  );
  const views = new Map(folds.map(({ table, view }) => [table, view]));
  const anew = await postgres.inVain(async (client) => {
    for (const table of views.keys()) await client.query(`delete from ${table}`);
    for (const fold of folds) await foldRows(client as PoolClient, fold);
    const contents = new Map<string, readonly Row[]>();
    for (const table of views.keys()) {
      const { rows: found } = await client.query<{ row: Row }>(
        `select to_json(one) as row from ${table} one`,
      );
      contents.set(
        table,
        found.map(({ row }) => row),
      );
    }
    return contents;
  });
  for (const [table, { external = [] }] of views) {
    const compared = (of: readonly Row[]) =>
      of
        .map((row) =>
          canonicalJson(Object.fromEntries(Object.entries(row).filter(([c]) => !external.includes(c)))),
        )
        .toSorted()
        .join();
    if (compared(rows(table)) !== compared(anew.get(table)!)) report(`${table} is not what the log folds to`);
  }
};

/** In any order of erasure, completion and publication, nothing of an erased reading is stored, offered or announced. */
const checkErasures = async ({ store, rows, keys, report }: Ended): Promise<void> => {
  const erasedAt = new Map<string, bigint>();
  const sealedInputs = new Map<string, string>();
  for (const { type, stream, position, data } of store.log) {
    const id = streamId(stream);
    if (type === 'ReadingRequested') sealedInputs.set(id, (data as { sealedInput: string }).sealedInput);
    if (type === 'DocumentPublished' && erasedAt.has(id))
      report(`reading ${id} was published after its erasure`);
    if (type !== 'ReadingErased') continue;
    if (erasedAt.has(id)) report(`reading ${id} was erased twice`);
    erasedAt.set(id, position);
  }
  for (const { type, stream } of store.log) {
    if (type === 'PublicationWithdrawn' && !erasedAt.has(streamId(stream)))
      report(`the erasure of reading ${streamId(stream)} was started and never finished`);
  }
  for (const [id, position] of erasedAt) {
    // A request that raced with the erasure may have created another key, which opens nothing.
    if (opens(sealedInputs.get(id), await keys.find(id)))
      report(`sealed data of erased reading ${id} can be opened`);
    const of = (table: string) => rows(table).filter((row) => row['reading_id'] === id);
    if (of('readings.result').length > 0) report(`erased reading ${id} has a result`);
    const [row] = of('readings.reading');
    if (row?.['erased_at'] === null || row?.['sealed_input'] !== '')
      report(`erased reading ${id} is not erased in the view`);
    const due = [...of('publishing.publication'), ...of('publishing.republication')];
    if (due.some((one) => one['due_at'] !== null)) report(`erased reading ${id} is due to be published`);
    for (const artifact of of('publishing.artifact'))
      report(`erased reading ${id} still has ${placeOf(artifact)}`);
    for (const { type, position: toldAt } of of('webhooks.public_event')) {
      if (BigInt(toldAt as number) > position && type !== 'reading.failed')
        report(`${type as string} of reading ${id} was announced after its erasure`);
    }
  }
};

const opens = (sealed: string | undefined, key: SubjectKey | null): boolean => {
  if (key === null || sealed === undefined) return false;
  try {
    key.open('input|padded', Buffer.from(sealed, 'base64'));
    return true;
  } catch {
    return false;
  }
};

/** What must hold at the end, whatever happened before. @returns one sentence for each breach */
export const breachesOf = async (world: World, customers: readonly Customer[]): Promise<string[]> => {
  const breaches = [...new Set(world.alarms)];
  const ended = await endOf(world, customers, (breach) => breaches.push(breach));
  for (const check of CHECKS) await check(ended);
  // In each mode, the books of the other do not count.
  for (const livemode of [true, false]) {
    checkHolds(livemode, ended);
    await checkBooks(livemode, ended);
    checkReconciliation(livemode, ended);
  }
  return breaches;
};

const checkReadings = ({ lost, readings, publications, rows, report }: Ended): void => {
  const shown = new Map(rows('readings.reading').map((row) => [row['reading_id'], row['status']]));
  for (const [id, events] of readings) {
    const requested = count(events, 'ReadingRequested');
    const ended = count(events, 'ReadingCompleted', 'ReadingFailed');
    if (requested > 1) report(`reading ${id} was requested ${requested} times`);
    if (ended !== requested)
      report(`reading ${id} was requested ${requested} times and ended ${ended} times`);
    const versions = versionsOf(publications.get(id) ?? [], 'DocumentPublished');
    const asked = versionsOf(publications.get(id) ?? [], 'PublicationRequested');
    const isErased = count(events, 'ReadingErased') > 0 || lost.keys.has(id);
    const due = count(events, 'ReadingCompleted');
    if (due === 0 && versions.length > 0) report(`reading ${id} was published and not completed`);
    if (due > 0 && !isErased && versions.length === 0) report(`reading ${id} was never published`);
    if (versions.some((version, index) => version !== index + 1) || versions.length > MOST_VERSIONS)
      report(`reading ${id} was published as versions ${versions.join()}`);
    if (
      asked.some((version, index) => version !== index + 1) ||
      (!isErased && asked.length !== versions.length)
    )
      report(`versions ${asked.join()} of reading ${id} were requested, and ${versions.join()} published`);
    const { status } = fold(readingDecider, readingDecider.initialState, events);
    if (status !== (shown.get(id) ?? 'none'))
      report(`reading ${id} is ${status} in its stream and ${String(shown.get(id))} in the view`);
    const attempts = events.flatMap((event) => (event.type === 'ReadingStarted' ? [event.data.attempt] : []));
    if (attempts.some((attempt, index) => attempt !== index + 1))
      report(`reading ${id} lost count of its attempts`);
  }
};

const versionsOf = (
  events: readonly Recorded<PublicationEvent>[],
  wanted: 'PublicationRequested' | 'DocumentPublished',
): readonly number[] => events.flatMap((event) => (event.type === wanted ? [event.data.version] : []));

/** Every reading that is not erased can be opened, unless its key was lost. No key is left of a request that never became a reading. */
const checkKeys = ({ lost, readings, rows, report }: Ended): void => {
  const kept = new Set(rows('platform.subject_key').map((row) => row['subject_id'] as string));
  for (const [id, events] of readings) {
    if (count(events, 'ReadingErased') > 0 || lost.keys.has(id)) continue;
    if (count(events, 'ReadingRequested') > 0 && !kept.has(id)) report(`reading ${id} has lost its key`);
  }
  for (const id of kept) {
    if (count(readings.get(id) ?? [], 'ReadingRequested') === 0)
      report(`a key is left of ${id}, which is no reading`);
  }
};

/** Stored documents were rendered with the recorded time, so every repetition yields the same bytes. */
const checkPublications = async ({
  lost,
  publications,
  readings,
  rows,
  keys,
  report,
}: Ended): Promise<void> => {
  const digests = new Map(rows('publishing.artifact').map((row) => [placeOf(row), row['digest']]));
  for (const [id, events] of publications) {
    if (count(readings.get(id) ?? [], 'ReadingErased') > 0) continue;
    for (const event of events) {
      if (event.type !== 'DocumentPublished') continue;
      const { publishedAt, version } = event.data;
      const place = placeOf({ reading_id: id, version, format: 'document_v1' });
      if (lost.artifacts.has(place) || lost.keys.has(id)) continue;
      const key = await keys.find(id);
      const rendered = key?.digest('artifact', Buffer.from(JSON.stringify({ publishedAt }))).toString('hex');
      if (digests.get(place) !== rendered) {
        report(`the document of reading ${id} is not the one that was published`);
      }
    }
  }
};

const checkCustomers = ({ readings, customers, report }: Ended): void => {
  for (const { idempotencyKey, workspaceId, accepted } of customers) {
    if (accepted.size > 1) report(`${idempotencyKey} of ${workspaceId} was answered with several readings`);
    for (const id of accepted) {
      if (count(readings.get(id) ?? [], 'ReadingRequested') !== 1)
        report(`reading ${id} was accepted, but is not there`);
    }
  }
};

const CHECKS: readonly ((ended: Ended) => void | Promise<void>)[] = [
  checkReadings,
  checkKeys,
  checkPublications,
  checkErasures,
  checkCustomers,
  checkModes,
  checkDeliveries,
  checkViews,
  checkRebuilt,
];
