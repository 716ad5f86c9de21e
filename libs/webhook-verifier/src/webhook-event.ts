export type WebhookEventType =
  | 'reading.completed'
  | 'reading.published'
  | 'reading.failed'
  | 'reading.delayed';

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
  /** The same in every attempt, redelivery and replay: use it to detect duplicates. */
  readonly id: string;
  readonly type: Type;
  readonly apiVersion: 'v1';
  /** RFC 3339, UTC. */
  readonly createdAt: string;
  readonly workspaceId: string;
  /** False for a test reading. Absent in events from before test mode: their readings are live. */
  readonly livemode?: boolean;
  /** Only in a trial. */
  readonly trial?: true;
  readonly readingId: string;
  /** Number of the reading's event: starts at 1, without gaps. */
  readonly sequence: number;
  /** Your own id of the reading. Absent when your workspace switched it off. */
  readonly externalId?: string | null;
  readonly data: Data & {
    /** Paths relative to the base URL of the service. */
    readonly links: { readonly reading: string; readonly result: string; readonly document: string };
  };
}

interface State<Status extends string, Document, Error> {
  readonly status: Status;
  readonly document: Document;
  readonly error: Error;
}

/** An event about a reading. New members and types may be added; ignore those you do not know. */
export type WebhookEvent =
  | Facts<'reading.completed', State<'completed', UnpublishedDocument, null>>
  | Facts<'reading.published', State<'completed', PublishedDocument, null>>
  | Facts<'reading.failed', State<'failed', UnpublishedDocument, ReadingError>>
  | Facts<'reading.delayed', State<'queued' | 'processing', UnpublishedDocument, null>>;

/** What an endpoint receives besides events, if it asked for it in `notices`. */
export type WebhookNoticeType = 'batch.ended';

/** A notice: each accepted reading of a batch has ended. New members may be added; ignore those you do not know. */
export interface WebhookNotice {
  /** The same in every attempt and redelivery: use it to detect duplicates. */
  readonly id: string;
  readonly type: WebhookNoticeType;
  readonly apiVersion: 'v1';
  /** RFC 3339, UTC. */
  readonly createdAt: string;
  readonly workspaceId: string;
  /** False for a batch of test readings. */
  readonly livemode: boolean;
  readonly batchId: string;
  readonly data: {
    /** RFC 3339, UTC. */
    readonly endedAt: string;
    /** All but `items` add up to it. */
    readonly counts: {
      readonly items: number;
      readonly refused: number;
      readonly published: number;
      readonly failed: number;
      readonly erased: number;
      readonly notAccepted: number;
    };
    /** Path relative to the base URL of the service. */
    readonly links: { readonly batch: string };
  };
}

/** The body of a webhook: an event, or a notice. `type` tells. */
export type WebhookBody = WebhookEvent | WebhookNotice;
