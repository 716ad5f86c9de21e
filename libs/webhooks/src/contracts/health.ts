import { Query } from '@app/platform/cqrs/message.js';
import type { WebhookEndpointRecord } from './endpoint-record.js';

/** The state of an endpoint's queue. */
export interface QueueHealthRecord {
  readonly pending: number;
  /** Seconds that the oldest due delivery has been waiting; 0 when none is due. */
  readonly queueAgeSeconds: number;
  /** When the next attempt is due (RFC 3339); `null`: nothing is pending. */
  readonly nextAttemptAt: string | null;
  readonly lastSuccessAt: string | null;
  /** Attempts of the last 24 hours by result: `succeeded`, or the class of error. */
  readonly attempts: Readonly<Record<string, number>>;
}

export interface EndpointHealth extends QueueHealthRecord {
  readonly endpoint: WebhookEndpointRecord;
  readonly workspaceId: string;
}

/** What waits for an endpoint, and how long its old secrets sign. Instants are RFC 3339. */
export interface EndpointQueue extends Omit<QueueHealthRecord, 'attempts' | 'queueAgeSeconds'> {
  /** Until then, deliveries also carry the signature of an old secret; `null`: of none. May be past. */
  readonly oldSecretsValidUntil: string | null;
}

/** The queue of an endpoint of this workspace; `null` when it has none with this id. Counts no attempts, which is slow. */
export class GetEndpointQueue extends Query<EndpointQueue | null> {
  constructor(
    readonly workspaceId: string,
    readonly endpointId: string,
  ) {
    super();
  }
}

/** Every endpoint of one workspace, or (`null`) of all, with its health; the longest waiting first. */
export class ListWebhookEndpoints extends Query<readonly EndpointHealth[]> {
  constructor(readonly workspaceId: string | null) {
    super();
  }
}

/** One endpoint with its health; `null` when it does not exist or was deleted. */
export class FindWebhookEndpoint extends Query<EndpointHealth | null> {
  constructor(readonly endpointId: string) {
    super();
  }
}
