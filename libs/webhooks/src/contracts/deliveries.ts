import { Query, Command } from '#platform/cqrs/message.js';
import type { Mode } from '#event-sourcing/core/request-context.js';
import type { RetentionRun, RetentionStatus } from '#platform/retention/retention-status.js';
import type { DeliveredType, PublicEventType } from './events.js';
import type { EndpointRefusal, NoLongerKept, ReplayRefusal } from './refusals.js';

/** The stored status of a delivery. `pending` until it is settled; the others are final. */
export const DELIVERY_STATUSES = ['pending', 'succeeded', 'exhausted', 'skipped'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** The delivery of one event of a reading to one endpoint. Instants are RFC 3339 UTC. */
export interface DeliveryOfReading {
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly createdAt: string;
  readonly settledAt: string | null;
}

/** The deliveries of a reading, oldest first, without those deleted after their retention. */
export class ListDeliveriesOfReading extends Query<readonly DeliveryOfReading[]> {
  constructor(readonly readingId: string) {
    super();
  }
}

/** An attempt with what the receiver answered, as far as it is stored and can be opened. */
export interface AnsweredAttemptRecord {
  readonly number: number;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly statusCode: number | null;
  /** Class of failure; `null`: it succeeded. */
  readonly error: string | null;
  /** First bytes as UTF-8. `null`: a success, no response, a notice, an erased reading, or a later attempt followed. */
  readonly answer: string | null;
}

/** A delivery with its attempts, for operators. */
export interface AnsweredDelivery extends DeliveryOfReading {
  readonly workspaceId: string;
  readonly readingId: string | null;
  readonly history: readonly AnsweredAttemptRecord[];
}

/** One delivery with responses to failed attempts: to all while pending, then to the last. `null`: none. @throws KeysUnavailable */
export class FindAnsweredDelivery extends Query<AnsweredDelivery | null> {
  constructor(readonly deliveryId: string) {
    super();
  }
}

/**
 * Writes the deliveries settled before an instant, one JSON object a line (UTF-8), from one snapshot: ids, type, status, times
 * and every attempt, without bodies and without receivers' answers. They are in no order. Returns their number.
 */
export class ExportDeliveries extends Query<number> {
  /** @param until RFC 3339, exclusive @param write called with whole or part lines */
  constructor(
    readonly until: string,
    readonly write: (part: Buffer) => void,
  ) {
    super();
  }
}

/** An event or a notice as it is stored. */
export interface ToldEvent {
  /** Its place in the feed of its kind, in decimal; `null` for a trial, which is in no feed. */
  readonly position: string | null;
  /** JSON: what deliveries carry, but for the external id. */
  readonly body: string;
  /** `null` for a notice. */
  readonly readingId: string | null;
  /** Deliveries carry the external id of its reading as the last member, which `GetExternalId` of the readings tells. */
  readonly showsExternalId: boolean;
}

/** Events of a workspace, or its notices, newest first. The feed of the API has the same ones, oldest first. */
export class ListNewestEvents extends Query<readonly ToldEvent[]> {
  constructor(
    readonly workspaceId: string,
    readonly mode: Mode,
    /** Of events, or of notices: each kind has an order of its own. At least one. */
    readonly types: readonly DeliveredType[],
    readonly limit: number,
    /** Only those with an earlier position, in decimal; `null`: from the newest. */
    readonly before: string | null,
  ) {
    super();
  }
}

/** An event or notice of this workspace and mode, or a trial of the workspace, which is in no feed; `null`: there is none. */
export class FindToldEvent extends Query<ToldEvent | null> {
  constructor(
    readonly workspaceId: string,
    readonly mode: Mode,
    readonly eventId: string,
  ) {
    super();
  }
}

/** The outcome of an event at an endpoint, over all its deliveries there. `missing`: it has none. */
export const REPLAYABLE_STATUSES = ['missing', 'skipped', 'exhausted', 'succeeded'] as const;
export type ReplayableStatus = (typeof REPLAYABLE_STATUSES)[number];

/** The default statuses of a replay: events that the receiver did not get. */
export const UNDELIVERED_STATUSES: readonly ReplayableStatus[] = ['missing', 'skipped', 'exhausted'];

export interface ReplayChoice {
  /** RFC 3339, inclusive. */
  readonly since: string;
  /** RFC 3339, exclusive. */
  readonly until: string;
  readonly types: readonly PublicEventType[];
  readonly statuses: readonly ReplayableStatus[];
  /** Of the readings whose events it chooses. */
  readonly modes: readonly Mode[];
  readonly dryRun: boolean;
}

/** A replay as callers see it. */
export interface ReplayRecord extends ReplayChoice {
  readonly replayId: string;
  readonly endpointId: string;
  /** `stopped`: on request, without progress for a day, or because the endpoint was disabled or deleted. */
  readonly state: 'queued' | 'running' | 'finished' | 'stopped';
  /** Events selected so far; final once the replay has finished. */
  readonly events: number;
  /** Share of the log read so far, from 0 to 1. */
  readonly progress: number;
  /** Status of its deliveries; all zero for a dry run. */
  readonly deliveries: Readonly<Record<DeliveryStatus, number>>;
  readonly createdAt: string;
  readonly finishedAt: string | null;
}

export interface RequestedReplay {
  /** `repeated`: this Idempotency-Key already accepted the same request. */
  readonly outcome: 'queued' | 'repeated';
  readonly record: ReplayRecord;
}

/**
 * Sends past events of the workspace to an endpoint, in log order, whether or not the endpoint existed then. `until`
 * null: now. `types` null: those the endpoint subscribes to. `statuses` null: UNDELIVERED_STATUSES. One replay per
 * endpoint runs at a time. Dry runs do not count, and a few may wait beside it.
 */
export class ReplayEvents extends Command<RequestedReplay | EndpointRefusal | ReplayRefusal | NoLongerKept> {
  constructor(
    readonly endpointId: string,
    readonly workspaceId: string,
    readonly choice: {
      readonly since: string;
      readonly until: string | null;
      readonly types: readonly PublicEventType[] | null;
      readonly statuses: readonly ReplayableStatus[] | null;
      /** The endpoint's own, as far as these include them; `null`: all of them. */
      readonly modes: readonly Mode[] | null;
      readonly dryRun: boolean;
    },
    readonly idempotencyKey: string | null,
  ) {
    super();
  }
}

/** A replay of this endpoint; `null` when there is none with this id. */
export class GetReplay extends Query<ReplayRecord | null> {
  constructor(
    readonly endpointId: string,
    readonly replayId: string,
  ) {
    super();
  }
}

/** What of webhooks ends after a term: what is kept, and what is due. */
export class LookAtWebhookRetention extends Query<readonly RetentionStatus[]> {
  constructor(readonly now: number) {
    super();
  }
}

/** Makes one round now, as the workers do. Workers may make one at the same time. */
export class RunWebhookRetention extends Command<readonly RetentionRun[]> {
  /** @param now milliseconds since the epoch, of a clock that is trusted @param kinds `null`: all */
  constructor(
    readonly now: number,
    readonly kinds: readonly string[] | null,
  ) {
    super();
  }
}
