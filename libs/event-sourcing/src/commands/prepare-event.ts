import { instant } from '../core/clock.js';
import type { EventMetadata, EventToAppend, Recorded } from '../core/event.js';
import type { RequestContext } from '../core/request-context.js';
import { encode, type EventCatalogue, type EventOf } from '../core/event-catalogue.js';
import { eventId } from '../core/event-id.js';
import { nextChain } from '../core/hash-chain.js';

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

/** @param actorFirst the order of members that some streams have stored from the start */
export const metadataOf = ({ by, workspaceId, at }: CommandContext, actorFirst = false): Metadata => ({
  ...(actorFirst && { actor: by.actor }),
  correlationId: by.correlationId,
  causationId: by.causationId,
  workspaceId,
  actor: by.actor,
  occurredAt: instant(at),
});

/** Where an event is to stand, and which command it comes from. */
interface Place {
  readonly stream: string;
  readonly revision: bigint;
  readonly intent: string;
  readonly metadata: Metadata;
  /** Its index among the events of one decision. */
  readonly index: number;
  /** The end of the stream's hash chain; `null` for a stream without one. */
  readonly previousChain: string | null;
}

/**
 * Encodes a decided event and derives its id: the same for every retry of the same decision. `bytes`: roughly those of
 * its data.
 */
export const prepareEvent = <Cat extends EventCatalogue>(
  catalogue: Cat,
  { type, data }: EventOf<Cat>,
  { stream, revision, intent, metadata: known, index, previousChain }: Place,
): { readonly event: EventToAppend & Recorded; readonly bytes: number } => {
  const encoded = encode(catalogue, type, data);
  const metadata = { ...known, schemaVersion: encoded.version };
  // The store answers success for an event id that it already holds. The facts are part of the id, so that two processes
  // with one intent, each at its own time, conflict: the stored event is the accepted one.
  const facts = `${intent}|${metadata.occurredAt}|${JSON.stringify(encoded.data)}`;
  const id = eventId(stream, facts, index);
  const chainedFacts = {
    stream,
    revision: String(revision),
    eventId: id,
    type,
    schemaVersion: encoded.version,
    occurredAt: metadata.occurredAt,
    data: encoded.data,
  };
  const event = {
    id,
    type,
    data: encoded.data,
    metadata:
      previousChain === null ? metadata : { ...metadata, chain: nextChain(previousChain, chainedFacts) },
    stream,
    revision,
    position: 0n,
  };
  return { event, bytes: Buffer.byteLength(facts) };
};
