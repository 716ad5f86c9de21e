import { hash } from 'node:crypto';
import { canonicalJson } from './canonical-json.js';
import type { StoredEvent } from './event.js';

/** What the chain covers: facts only. This shape must never change, or recorded chains no longer verify. */
export interface ChainedFacts {
  readonly stream: string;
  /** Decimal text, like every revision outside memory. */
  readonly revision: string;
  readonly eventId: string;
  readonly type: string;
  readonly schemaVersion: number;
  readonly occurredAt: string;
  readonly data: unknown;
}

/** Chain value before the first event of a stream: 64 zeros. */
export const CHAIN_START = '0'.repeat(64);

/** Lowercase hex SHA-256 of the previous chain value followed by the canonical JSON of the facts. */
export const nextChain = (previous: string, facts: ChainedFacts): string =>
  hash('sha256', previous + canonicalJson(facts), 'hex');

/** The facts of an event that its chain value covers. */
export const chainedFacts = (event: StoredEvent): ChainedFacts => ({
  data: event.data,
  eventId: event.id,
  occurredAt: event.metadata.occurredAt,
  revision: String(event.revision),
  schemaVersion: event.metadata.schemaVersion,
  stream: event.stream,
  type: event.type,
});

/**
 * Whether an event that readers pass over is a link of the chain. One that a newer program wrote is; the chain goes
 * through it. One that another program appended is not; the chain goes past it.
 */
export const continuesChain = (previous: string, event: StoredEvent): boolean =>
  event.metadata.chain === nextChain(previous, chainedFacts(event));
