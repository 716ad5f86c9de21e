import { randomUUID } from 'node:crypto';
import { instant } from '#event-sourcing/core/clock.js';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { streamId } from '#event-sourcing/core/stream-name.js';

let nextPosition = 0n;
let nextRelease = 0;

/**
 * An event as the store would return it. `position` orders the log; by default, each event comes after all earlier
 * ones.
 */
export const stored = (
  stream: string,
  revision: number,
  type: string,
  data: object,
  options: { position?: bigint; at?: number } = {},
): StoredEvent => ({
  id: randomUUID(),
  stream,
  revision: BigInt(revision),
  position: options.position ?? nextPosition++,
  type,
  data,
  metadata: {
    correlationId: 'req_test',
    causationId: 'req_test',
    workspaceId: (data as { workspaceId?: string }).workspaceId ?? 'ws_1',
    actor: 'system:test',
    occurredAt: instant(options.at ?? Date.parse('2026-04-04T09:30:00Z')),
    schemaVersion: 1,
  },
});

/** The event as it would be in another workspace. */
export const movedTo = (workspaceId: string, event: StoredEvent): StoredEvent => ({
  ...event,
  stream: event.stream.startsWith('credits-') ? `credits-${workspaceId}` : event.stream,
  data: { ...(event.data as object), ...('workspaceId' in (event.data as object) && { workspaceId }) },
  metadata: { ...event.metadata, workspaceId },
});

const inWorkspace = { workspaceId: 'ws_1' };
type Options = Parameters<typeof stored>[4];

const eventsOf = (livemode: boolean) => (readingId: string) => {
  const of = (revision: number, type: string, data: object, options?: Options) =>
    stored(`reading-${readingId}`, revision, type, { ...inWorkspace, livemode, ...data }, options);
  return {
    delayed: (attempts = 0, options?: Options) => of(1, 'ReadingDelayed', { attempts }, options),
    completed: (options?: Options) =>
      of(2, 'ReadingCompleted', { attempt: 1, reservationId: 'r', sealedResult: 'sealed' }, options),
    failed: (options?: Options) =>
      of(3, 'ReadingFailed', { code: 'input_unprocessable', attempts: 1, reservationId: 'r' }, options),
    published: (options?: Options) => {
      const document = { version: 1, artifactId: 'art_1', publishedAt: '2026-04-04T09:31:00.000Z' };
      const data = { ...inWorkspace, livemode, ...document, formats: [], contentVersion: '2026.11.5' };
      return stored(`publication-${readingId}`, 1, 'DocumentPublished', data, options);
    },
  };
};

/** Events of a reading, at their real revisions. */
export const reading = eventsOf(true);
/** Events of a test reading. */
export const testReading = eventsOf(false);

/** A batch whose readings have all ended, at the revision of the store. */
export const batchEnded = (
  batchId: string,
  { livemode = true }: { livemode?: boolean } = {},
  options?: Options,
): StoredEvent => {
  const counts = { items: 3, refused: 1, published: 1, failed: 1, erased: 0, notAccepted: 0 };
  const data = { ...inWorkspace, livemode, ...counts, endedAt: '2026-04-04T09:30:00.000Z' };
  return stored(`batch-${batchId}`, 1, 'BatchEnded', data, options);
};

const releaseIn =
  (book: string) =>
  (cause: Pick<StoredEvent, 'id' | 'stream'>, options?: Options): StoredEvent => {
    const allocations = [{ grantId: 'pack:1', amount: 20, to: 'available' }];
    const of = { reservationId: 'r', readingId: streamId(cause.stream), amount: 20, allocations };
    return stored(book, nextRelease++, 'CreditsReleased', { ...of, causeEventId: cause.id }, options);
  };

/** The release of the credits that a failed or abandoned reading held. */
export const released = releaseIn('credits-ws_1');
/** The same in a test book. */
export const testReleased = releaseIn('testbook-ws_1');

/** A reading that fails and, a minute later, gets its credits released. */
export const failure = (readingId: string, at?: number): readonly [StoredEvent, StoredEvent] => {
  const failed = reading(readingId).failed(at === undefined ? {} : { at });
  return [failed, released(failed, { at: Date.parse(failed.metadata.occurredAt) + 60_000 })];
};

export const secretRef = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

/** Events of an endpoint of workspace `ws_1` that subscribes to everything. */
export const endpoint = (endpointId: string) => {
  const stream = `webhookEndpoint-${endpointId}`;
  const settings = {
    url: 'https://receiver.example/hook',
    events: ['reading.completed', 'reading.published', 'reading.failed', 'reading.delayed'],
    description: null,
    modes: ['live'],
    notices: [],
    headersRef: null,
    maxPerSecond: null,
    verified: true,
  };
  return {
    created: (changes: object = {}, options?: Options) =>
      stored(
        stream,
        0,
        'WebhookEndpointCreated',
        { ...inWorkspace, ...settings, secretRef: secretRef(1), ...changes },
        options,
      ),
    updated: (revision: number, changes: object, options?: Options) =>
      stored(stream, revision, 'WebhookEndpointUpdated', { ...settings, ...changes }, options),
    rotated: (revision: number, n: number, previousValidUntil: string) =>
      stored(stream, revision, 'WebhookEndpointSecretRotated', {
        secretRef: secretRef(n),
        previousValidUntil,
      }),
    disabled: (revision: number, options?: Options) =>
      stored(stream, revision, 'WebhookEndpointDisabled', { reason: 'requested' }, options),
    deleted: (revision: number) => stored(stream, revision, 'WebhookEndpointDeleted', {}),
  };
};
