import { Command, Query } from '#platform/cqrs/message.js';
import type { Mode } from '#event-sourcing/core/mode.js';
import type { DeliveryStatus } from './deliveries.js';
import type { PublicEventType } from './event-types.js';
import type { EndpointRefusal, NoLongerKept, ReplayNotFound, ReplayRefusal } from './refusals.js';

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
  /** Counts only, sends nothing. */
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

export type StopReplayResult =
  | { readonly outcome: 'ended'; readonly record: ReplayRecord }
  | EndpointRefusal
  | ReplayNotFound;

/** Stops a replay: it queues nothing more. Deliveries already queued are sent. A replay that has ended does not change. */
export class StopReplay extends Command<StopReplayResult> {
  constructor(
    readonly endpointId: string,
    readonly workspaceId: string,
    readonly replayId: string,
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
