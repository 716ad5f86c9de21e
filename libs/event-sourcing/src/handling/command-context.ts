import { instant } from '../core/clock.js';
import type { EventMetadata } from '../core/event.js';
import type { RequestContext } from '../core/request-context.js';

/** Who sends the command, when, and the name that identifies a retry of the same command. */
export interface CommandContext {
  /** The same for every retry of one command, different for any other: event ids are derived from it. */
  readonly intent: string;
  readonly by: RequestContext;
  readonly workspaceId: string;
  /** When the decision is taken, milliseconds since the epoch. */
  readonly at: number;
}

/** What the executor knows of an event's metadata before the event is encoded. */
export type Metadata = Omit<EventMetadata, 'schemaVersion' | 'chain'>;

export const metadataOf = ({ by, workspaceId, at }: CommandContext): Metadata => ({
  correlationId: by.correlationId,
  causationId: by.causationId,
  workspaceId,
  actor: by.actor,
  occurredAt: instant(at),
});
