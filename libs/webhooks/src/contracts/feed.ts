import { Query } from '#platform/cqrs/message.js';
import type { Mode } from '#event-sourcing/core/mode.js';
import type { DeliveredType } from './notice-types.js';

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

/**
 * An event or a notice of this workspace and mode, or a trial of the workspace, which is in no feed; `null`: there is none.
 */
export class FindToldEvent extends Query<ToldEvent | null> {
  constructor(
    readonly workspaceId: string,
    readonly mode: Mode,
    readonly eventId: string,
  ) {
    super();
  }
}
