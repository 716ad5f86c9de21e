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
    readonly links: Readonly<Record<'reading' | 'result' | 'document' | 'markdown' | 'pdf', string>>;
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

/** What an endpoint receives besides events: the types that it asked for in `notices`, and its own verification. */
export type WebhookNoticeType = WebhookNotice['type'];

interface Told<Type extends string, Data> {
  /** The same in every attempt and redelivery: use it to detect duplicates. */
  readonly id: string;
  readonly type: Type;
  readonly apiVersion: 'v1';
  /** RFC 3339, UTC. */
  readonly createdAt: string;
  readonly workspaceId: string;
  /** False for test readings, a test key, or an endpoint of test mode alone. */
  readonly livemode: boolean;
  readonly data: Data;
}

/** Paths relative to the base URL of the service. */
interface Links<Name extends string> {
  readonly links: Readonly<Record<Name, string>>;
}
interface AboutEndpoint {
  readonly endpointId: string;
}

type Notice<Type extends string, About, Data, Link extends string> = About & Told<Type, Data & Links<Link>>;

/** A notice. New members and types may be added; ignore those you do not know. Instants are RFC 3339, UTC. */
export type WebhookNotice =
  | Notice<
      'batch.ended',
      { readonly batchId: string },
      {
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
      },
      'batch'
    >
  | Notice<
      'credits.expiring',
      unknown,
      { readonly grantId: string; readonly remaining: number; readonly expiresAt: string },
      'credits'
    >
  | Notice<
      'credits.low',
      unknown,
      { readonly available: number; readonly toppedUpTo: number; readonly percent: number },
      'credits'
    >
  | Notice<
      'endpoint.disabled',
      AboutEndpoint,
      { readonly disabledAt: string; readonly reason: 'gone' | 'failing' },
      'endpoint'
    >
  | Notice<
      'endpoint.failing',
      AboutEndpoint,
      { readonly failingSince: string; readonly consecutiveFailures: number },
      'endpoint' | 'health'
    >
  | Notice<'endpoint.verification', AboutEndpoint, unknown, 'endpoint'>
  | Notice<'key.expiring', { readonly keyId: string }, { readonly expiresAt: string }, 'keys'>
  | Notice<
      'replay.finished',
      AboutEndpoint & { readonly replayId: string },
      { readonly state: 'finished' | 'stopped'; readonly events: number; readonly finishedAt: string },
      'replay'
    >;

/** The body of a webhook: an event, or a notice. `type` tells. */
export type WebhookBody = WebhookEvent | WebhookNotice;
