import { instant } from '#event-sourcing/core/clock.js';
import { assertNever } from '#event-sourcing/core/decider.js';
import type { EventOf, RecordedOf } from '#event-sourcing/core/event-catalogue.js';
import type { Recorded } from '#event-sourcing/core/event.js';
import { streamId } from '#event-sourcing/core/stream-name.js';
import { defineProjection, type Projection } from '#event-sourcing/projections/projection.js';
import { sql } from '#event-sourcing/projections/statement.js';
import { view } from '#event-sourcing/projections/view.js';
import {
  type BatchEvent,
  batchEvents,
  type FailureCode,
  type ReadingEvent,
  readingEvents,
  failureView,
} from './contracts/events.js';
import type { PublicationFeed } from './contracts/ports.js';
import type { ReadingStatus } from './contracts/messages.js';
import { type Locale, displayName } from '#numerology/index.js';
import type { ReadingInput } from './domain/reading-input.js';

/** A row of `readings.reading`; instants are RFC 3339. */
export interface ReadingRow {
  readonly reading_id: string;
  readonly workspace_id: string;
  readonly livemode: boolean;
  readonly status: ReadingStatus;
  readonly product_id: string;
  readonly profile_id: string;
  readonly locale: Locale;
  readonly sealed_input: string;
  readonly error_code: FailureCode | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly completed_at: string | null;
  readonly failed_at: string | null;
  readonly due_at: string | null;
  readonly document_version: number | null;
  readonly artifact_id: string | null;
  readonly published_at: string | null;
  readonly correlation_id: string;
  readonly erased_at: string | null;
}

/** The columns that a shown reading needs. */
export const SHOWN_COLUMNS = `reading_id, workspace_id, livemode, status, product_id, profile_id, locale, sealed_input, error_code,
  created_at, updated_at, completed_at, failed_at, document_version, artifact_id, published_at, erased_at`;

export type ShownRow = Omit<ReadingRow, 'due_at' | 'correlation_id'>;

/** A reading folded from its own events, while its row is missing. `null`: never requested. */
export const foldReading = (events: readonly Recorded<ReadingEvent>[]): ShownRow | null =>
  events.reduce<ReadingRow | null>(evolveReading, null);

/** How long a queued reading may wait before its job is added again. The job may have been lost with a worker. */
const REQUEUE_AFTER_MS = 30_000;

/** The row of a reading after one of its own events, or an event of its publication. */
export const evolveReading = (
  row: ReadingRow | null,
  event: Recorded<ReadingEvent | EventOf<PublicationFeed>>,
): ReadingRow | null => {
  if (event.type === 'ReadingRequested') return row ?? requested(event);
  if (row === null) return null;
  const at = event.metadata.occurredAt;
  const unfinished = row.status === 'queued' || row.status === 'processing';
  switch (event.type) {
    case 'ReadingStarted':
      return unfinished
        ? { ...row, status: 'processing', updated_at: at, due_at: event.data.leaseUntil }
        : row;
    case 'ReadingAttemptFailed':
      return unfinished
        ? { ...row, status: 'queued', updated_at: at, due_at: requeueAt(event.data.retryAt) }
        : row;
    case 'ReadingCompleted':
      return unfinished
        ? { ...row, status: 'completed', updated_at: at, completed_at: at, due_at: null }
        : row;
    case 'ReadingFailed':
      return unfinished ? { ...row, ...failed(event.data.code, at) } : row;
    case 'ReadingErased':
      return row.erased_at === null
        ? { ...row, erased_at: at, updated_at: later(row.updated_at, at), sealed_input: '' }
        : row;
    case 'DocumentPublished': {
      const { version, artifactId, publishedAt } = event.data;
      if (row.document_version !== null && row.document_version >= version) return row;
      return {
        ...row,
        document_version: version,
        artifact_id: artifactId,
        published_at: publishedAt,
        updated_at: later(row.updated_at, at),
      };
    }
    case 'ReadingDelayed':
    case 'ReadingAbandoned':
      return row;
    default:
      return assertNever(event);
  }
};

const requested = ({
  stream,
  data,
  metadata,
}: Extract<Recorded<ReadingEvent>, { type: 'ReadingRequested' }>): ReadingRow => ({
  reading_id: streamId(stream),
  workspace_id: data.workspaceId,
  livemode: data.livemode,
  status: 'queued',
  product_id: data.productId,
  profile_id: data.profileId,
  locale: data.locale,
  sealed_input: data.sealedInput,
  error_code: null,
  created_at: metadata.occurredAt,
  updated_at: metadata.occurredAt,
  completed_at: null,
  failed_at: null,
  due_at: requeueAt(metadata.occurredAt),
  document_version: null,
  artifact_id: null,
  published_at: null,
  correlation_id: metadata.correlationId,
  erased_at: null,
});

const failed = (code: FailureCode, at: string) =>
  ({ status: 'failed', updated_at: at, failed_at: at, due_at: null, error_code: code }) as const;

const requeueAt = (at: string): string => instant(Date.parse(at) + REQUEUE_AFTER_MS);

const later = (one: string, other: string): string => (Date.parse(other) > Date.parse(one) ? other : one);

interface ResultRow {
  readonly reading_id: string;
  readonly workspace_id: string;
  readonly livemode: boolean;
  readonly sealed_result: string;
}

type Event = RecordedOf<readonly [typeof readingEvents, PublicationFeed]>;

const byReading = ({ stream }: Event) => ({ reading_id: streamId(stream) });

const readings = view<ReadingRow, Event>({
  table: 'readings.reading',
  key: ['reading_id'],
  keyOf: byReading,
  evolve: evolveReading,
});

const results = view<ResultRow, Event>({
  table: 'readings.result',
  key: ['reading_id'],
  keyOf: (event) =>
    event.type === 'ReadingCompleted' || event.type === 'ReadingErased' ? byReading(event) : null,
  evolve(row, event) {
    if (event.type === 'ReadingErased') return null;
    if (event.type !== 'ReadingCompleted' || row !== null) return row;
    const { workspaceId, livemode, sealedResult } = event.data;
    return { ...byReading(event), workspace_id: workspaceId, livemode, sealed_result: sealedResult };
  },
});

export const READING_PROJECTION = 'readings.reading.v1';

/** The reading resource: its state, its result and its publication. */
const readingProjection = (feed: PublicationFeed) =>
  defineProjection({
    name: READING_PROJECTION,
    catalogues: [readingEvents, feed],
    views: [readings, results],
    // The erase command has usually done it already. A process killed in between has not.
    effects: ({ type, stream }) =>
      type === 'ReadingErased'
        ? [sql`delete from platform.subject_key where subject_id = ${streamId(stream)}`]
        : [],
  });

/** A row of `readings.batch`; instants are RFC 3339. */
interface BatchRow {
  readonly batch_id: string;
  readonly workspace_id: string;
  readonly livemode: boolean;
  readonly accepted: number;
  readonly requested_at: string;
  readonly ended_at: string | null;
  readonly correlation_id: string;
}

const evolve = (row: BatchRow | null, event: Recorded<BatchEvent>): BatchRow | null => {
  switch (event.type) {
    case 'BatchRequested': {
      const { workspaceId, livemode, items, refused } = event.data;
      return (
        row ?? {
          batch_id: streamId(event.stream),
          workspace_id: workspaceId,
          livemode,
          accepted: items - refused.length,
          requested_at: event.metadata.occurredAt,
          ended_at: null,
          correlation_id: event.metadata.correlationId,
        }
      );
    }
    case 'BatchEnded':
      return row && (row.ended_at === null ? { ...row, ended_at: event.data.endedAt } : row);
    default:
      return assertNever(event);
  }
};

const batches = view<BatchRow, Recorded<BatchEvent>>({
  table: 'readings.batch',
  key: ['batch_id'],
  keyOf: ({ stream }) => ({ batch_id: streamId(stream) }),
  evolve,
});

/** Which batches have not ended. */
export const batchProjection = defineProjection({
  name: 'readings.batch.v1',
  catalogues: [batchEvents],
  views: [batches],
});

/** For the worker, which keeps them, and the operator, who may rebuild them. Loads no framework. */
export const readingsProjections = (feed: PublicationFeed): readonly Projection[] => [
  readingProjection(feed),
  batchProjection,
];

/** A reading as lists show it: without the person. */
export const readingSummaryView = (row: ShownRow, input: ReadingInput | null) => {
  const { input: _, ...view } = readingView(row, input);
  return view;
};

const personView = ({ name, dateOfBirth, grammaticalProfile }: ReadingInput) => ({
  name,
  dateOfBirth,
  grammaticalProfile,
  displayName: displayName(name),
});

/** The Reading resource of the interface. `input` is `null` once the personal data was erased. */
export const readingView = (row: ShownRow, input: ReadingInput | null) => {
  // Publications of an erased reading can no longer be read.
  const available = row.document_version !== null && row.erased_at === null;
  return {
    readingId: row.reading_id,
    workspaceId: row.workspace_id,
    livemode: row.livemode,
    status: row.status,
    productId: row.product_id,
    profileId: row.profile_id,
    locale: row.locale,
    externalId: input?.externalId ?? null,
    metadata: input?.metadata ?? null,
    input: input && personView(input),
    document: {
      available,
      version: available ? row.document_version : null,
      artifactId: available ? row.artifact_id : null,
      publishedAt: available ? row.published_at : null,
    },
    error: row.error_code && row.failed_at ? failureView(row.error_code, row.failed_at) : null,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    completedAt: row.completed_at,
    erasedAt: row.erased_at,
  };
};

export type ReadingView = ReturnType<typeof readingView>;
