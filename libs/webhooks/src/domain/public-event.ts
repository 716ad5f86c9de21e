import { assertNever } from '#event-sourcing/core/decider.js';
import type { Recorded } from '#event-sourcing/core/event.js';
import { streamId } from '#event-sourcing/core/stream-name.js';
import type { PublicationEvent } from '#publishing/contracts/index.js';
import { failureView, type ReadingEvent } from '#readings/contracts/index.js';
import { type PublicEventType, publicEventId } from '../contracts/index.js';

export const API_VERSION = 'v1';

/** The event that receivers get, without personal data. Its `sequence` is assigned on insert, between `bodyHead` and `bodyTail`. */
export interface PublicEvent {
  /** `evt_` and a UUID, derived from the recorded event. */
  readonly eventId: string;
  readonly type: PublicEventType;
  readonly workspaceId: string;
  /** False for an event of a test reading. */
  readonly livemode: boolean;
  readonly readingId: string;
  readonly occurredAt: string;
  /** Position in the log, in decimal; `null` for a trial. A failure has the position of its release. */
  readonly position: string | null;
  /** W3C trace context of the deciding span. Attempts continue its trace; receivers do not get it. */
  readonly traceparent: string | null;
  /** Id of the request that it follows from, for the log; `null` for a trial. Receivers do not get it. */
  readonly correlationId: string | null;
  readonly bodyHead: string;
  readonly bodyTail: string;
}

export type SourceEvent = Recorded<ReadingEvent | PublicationEvent>;

const UNPUBLISHED = { available: false, version: null, artifactId: null, publishedAt: null };

/** The public event of a recorded event; `null` when receivers get none. */
export const publicEventOf = (event: SourceEvent): PublicEvent | null => {
  const { occurredAt } = event.metadata;
  switch (event.type) {
    case 'ReadingDelayed':
      return draft(event, 'reading.delayed', { status: event.data.attempts === 0 ? 'queued' : 'processing' });
    case 'ReadingCompleted':
      return draft(event, 'reading.completed', { status: 'completed' });
    case 'DocumentPublished': {
      const { version, artifactId, publishedAt } = event.data;
      const document = { available: true, version, artifactId, publishedAt };
      return draft(event, 'reading.published', { status: 'completed', document });
    }
    case 'ReadingFailed': {
      const error = failureView(event.data.code, occurredAt);
      return draft(event, 'reading.failed', { status: 'failed', error });
    }
    case 'ReadingRequested':
    case 'ReadingStarted':
    case 'ReadingAttemptFailed':
    case 'ReadingAbandoned':
    case 'ReadingErased':
    case 'PublicationRequested':
    case 'PublicationFailed':
    case 'PublicationWithdrawn':
      return null;
    default:
      return assertNever(event);
  }
};

/** Sent only after the reading's credits are released, so that a receiver that then reads its balance sees them. */
export const isSentOnRelease = ({ type }: Pick<PublicEvent, 'type'>): boolean => type === 'reading.failed';

interface EventData {
  readonly status: 'queued' | 'processing' | 'completed' | 'failed';
  readonly document?: object;
  readonly error?: object | null;
}

const draft = (
  event: SourceEvent & { data: { workspaceId: string; livemode: boolean } },
  type: PublicEventType,
  data: EventData,
): PublicEvent =>
  publicEvent(
    {
      eventId: publicEventId(event, type),
      type,
      workspaceId: event.data.workspaceId,
      livemode: event.data.livemode,
      readingId: streamId(event.stream),
      occurredAt: event.metadata.occurredAt,
      position: String(event.position),
      traceparent: event.metadata.traceparent ?? null,
      correlationId: event.metadata.correlationId,
    },
    data,
  );

type Facts = Omit<PublicEvent, 'bodyHead' | 'bodyTail'>;

const publicEvent = (
  facts: Facts,
  { status, document = UNPUBLISHED, error = null }: EventData,
  marks: { readonly trial?: true } = {},
): PublicEvent => {
  const { eventId, type, workspaceId, livemode, readingId, occurredAt } = facts;
  const reading = `/api/v1/readings/${readingId}`;
  const documentAs = (format: string): string => `${reading}/document?format=${format}`;
  const links = {
    reading,
    result: `${reading}/result`,
    document: documentAs('document_v1'),
    markdown: documentAs('markdown'),
    pdf: documentAs('pdf'),
  };
  const about = { workspaceId, livemode, ...marks, readingId };
  const head = { id: eventId, type, apiVersion: API_VERSION, createdAt: occurredAt, ...about };
  return {
    ...facts,
    bodyHead: `${JSON.stringify(head).slice(0, -1)},"sequence":`,
    bodyTail: `,"data":${JSON.stringify({ status, document, error, links })}}`,
  };
};

/** A stored body with the external id of its reading, as its last member. */
export const withExternalId = (body: string, externalId: string | null): string =>
  `${body.slice(0, -1)},"externalId":${JSON.stringify(externalId)}}`;

interface ReadingOfTrial {
  readonly readingId: string;
  readonly livemode: boolean;
  readonly document: { readonly version: number; readonly artifactId: string; readonly publishedAt: string };
}

type MadeUp = Pick<Facts, 'eventId' | 'type' | 'workspaceId' | 'occurredAt'>;

/** An event that has not happened to this reading: an example, or a trial that a person asked for. */
export const madeUpEvent = (
  { eventId, type, workspaceId, occurredAt }: MadeUp,
  { readingId, livemode, document }: ReadingOfTrial,
  marks: { readonly trial?: true } = {},
): PublicEvent => {
  const none = { position: null, traceparent: null, correlationId: null };
  const facts = { eventId, type, workspaceId, livemode, readingId, occurredAt, ...none };
  return publicEvent(facts, dataOf(type, document, occurredAt), marks);
};

const dataOf = (
  type: PublicEventType,
  { version, artifactId, publishedAt }: ReadingOfTrial['document'],
  occurredAt: string,
): EventData => {
  switch (type) {
    case 'reading.completed':
      return { status: 'completed' };
    case 'reading.published':
      return { status: 'completed', document: { available: true, version, artifactId, publishedAt } };
    case 'reading.failed':
      return { status: 'failed', error: failureView('generation_failed', occurredAt) };
    case 'reading.delayed':
      return { status: 'processing' };
    default:
      return assertNever(type);
  }
};
