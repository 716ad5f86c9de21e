export type WebhookEventType =
  'reading.completed' | 'reading.published' | 'reading.failed' | 'reading.delayed';

export interface UnpublishedDocument {
  readonly available: false;
  readonly version: null;
  readonly artifactId: null;
  readonly publishedAt: null;
}

export interface PublishedDocument {
  readonly available: true;
  readonly version: number;
  readonly artifactId: string;
  /** RFC 3339, UTC. */
  readonly publishedAt: string;
}

export interface ReadingError {
  readonly code: string;
  readonly title: string;
  /** Whether a new reading of the same input may succeed. */
  readonly retryable: boolean;
  readonly occurredAt: string;
}

interface Facts<Type extends WebhookEventType, Data> {
  /** The same in every attempt, redelivery and replay: tell repeats by it. */
  readonly id: string;
  readonly type: Type;
  readonly apiVersion: 'v1';
  /** RFC 3339, UTC. */
  readonly createdAt: string;
  readonly workspaceId: string;
  readonly readingId: string;
  /** Of the reading's events: from 1, without a gap. */
  readonly sequence: number;
  readonly data: Data & {
    /** Paths under the service's base address. */
    readonly links: { readonly reading: string; readonly result: string; readonly document: string };
  };
}

interface State<Status extends string, Document, Error> {
  readonly status: Status;
  readonly document: Document;
  readonly error: Error;
}

/** What a webhook tells. New members and types may appear; leave alone what you do not know. */
export type WebhookEvent =
  | Facts<'reading.completed', State<'completed', UnpublishedDocument, null>>
  | Facts<'reading.published', State<'completed', PublishedDocument, null>>
  | Facts<'reading.failed', State<'failed', UnpublishedDocument, ReadingError>>
  | Facts<'reading.delayed', State<'queued' | 'processing', UnpublishedDocument, null>>;
