import { hash } from 'node:crypto';
import { canonicalJson } from './canonical-json.js';

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
