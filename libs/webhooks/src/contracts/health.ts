import { Query } from '#platform/cqrs/message.js';
import type { WebhookEndpointRecord } from './endpoint-record.js';

/** The state of an endpoint's queue. */
export interface QueueHealthRecord {
  readonly pending: number;
  /** Seconds that the oldest due delivery has been waiting; 0 when none is due. */
  readonly queueAgeSeconds: number;
  /** When the next attempt is due (RFC 3339); `null`: nothing is pending. */
  readonly nextAttemptAt: string | null;
  readonly lastSuccessAt: string | null;
  /** Attempts of this hour (UTC) and the 23 before it by result: `succeeded`, or the class of error. */
  readonly attempts: Readonly<Record<string, number>>;
}

export interface FoundEndpoint {
  readonly endpoint: WebhookEndpointRecord;
  readonly workspaceId: string;
}

export interface EndpointHealth extends FoundEndpoint, QueueHealthRecord {}

/** What waits for an endpoint, and how long its old secrets sign. Instants are RFC 3339. */
export interface EndpointQueue extends Omit<QueueHealthRecord, 'attempts' | 'queueAgeSeconds'> {
  /** Until then, deliveries also carry the signature of an old secret; `null`: of none. May be past. */
  readonly oldSecretsValidUntil: string | null;
}

/** The queue of an endpoint of this workspace; `null` when it has none with this id. */
export class GetEndpointQueue extends Query<EndpointQueue | null> {
  constructor(
    readonly workspaceId: string,
    readonly endpointId: string,
  ) {
    super();
  }
}

/** The endpoints of one workspace, or this one, or (`null`) all, with their health; the longest waiting first. */
export class ListWebhookEndpoints extends Query<readonly EndpointHealth[]> {
  constructor(
    readonly workspaceId: string | null,
    readonly endpointId: string | null = null,
  ) {
    super();
  }
}

/** One endpoint; `null` when it does not exist or was deleted. */
export class FindWebhookEndpoint extends Query<FoundEndpoint | null> {
  constructor(readonly endpointId: string) {
    super();
  }
}
