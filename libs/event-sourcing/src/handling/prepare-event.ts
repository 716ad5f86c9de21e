import { encode, type EventCatalogue, type EventOf } from '../core/event-catalogue.js';
import { eventId } from '../core/event-id.js';
import type { EventToAppend, Recorded } from '../core/event.js';
import { nextChain } from '../core/hash-chain.js';
import type { Metadata } from './command-context.js';

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
