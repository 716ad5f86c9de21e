import { Query } from '@app/platform/cqrs/message.js';
import { correctionDayEvents, correctionEvents } from './corrections.js';
import { operatorsEvents } from './operators.js';

/** The streams whose events count by the signatures of operators: what corrections consist of, besides entries in books. */
export const CORRECTION_CATEGORIES: readonly string[] = [
  operatorsEvents.category,
  correctionEvents.category,
  correctionDayEvents.category,
];

/** An event in a stream of operators or corrections, decided again: only root keys and signatures are believed. */
export interface JudgedStatement {
  readonly stream: string;
  readonly revision: bigint;
  readonly type: string;
  /** `unknown`: an operator signed it, and only a newer program can read it. */
  readonly worth: 'counts' | 'does not count' | 'unknown';
  /** Why it does not count, or cannot be read; empty when it counts. */
  readonly reason: string;
  /** A quarantine has no effect unless the statement does not count. */
  readonly isQuarantined: boolean;
}

/**
 * Judges every statement of these streams, and of the operators and the corrections that were signed in the last `days`
 * days. @throws StoreUnavailable
 */
export class JudgeStatements extends Query<readonly JudgedStatement[]> {
  /** @param streams those of other categories have no statements */
  constructor(
    readonly streams: readonly string[],
    readonly days = 0,
  ) {
    super();
  }
}
