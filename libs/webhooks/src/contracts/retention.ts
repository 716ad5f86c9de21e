import { Command, Query } from '#platform/cqrs/message.js';
import type { RetentionRun, RetentionStatus } from '#platform/retention/retention-status.js';

/** What of webhooks ends after a term: what is kept, and what is due. */
export class LookAtWebhookRetention extends Query<readonly RetentionStatus[]> {
  /** @param now milliseconds since the epoch */
  constructor(readonly now: number) {
    super();
  }
}

/** Makes one round now, as the workers do. Workers may make one at the same time. */
export class RunWebhookRetention extends Command<readonly RetentionRun[]> {
  /**
   * @param now milliseconds since the epoch, of a clock that is trusted
   * @param kinds `null`: all
   */
  constructor(
    readonly now: number,
    readonly kinds: readonly string[] | null,
  ) {
    super();
  }
}
