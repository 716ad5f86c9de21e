import type { Clock } from '@app/event-sourcing/core/clock.js';
import type { RequestContext } from '@app/event-sourcing/core/request-context.js';
import type { Outcome } from '@app/event-sourcing/handling/command-executor.js';
import { Inject, Injectable } from '@app/platform/injection.js';
import { CLOCK } from '@app/platform/tokens.js';
import type { CreditsEvent } from '../contracts/events.js';
import type { CreditsCommand, CreditsRejection } from '../domain/credits/credits.commands.js';
import { CREDITS_EXECUTOR, type CreditsExecutor } from '../credits.executor.js';
import type { Credits } from '../domain/credits/credits.state.js';
import { dueBy } from '../domain/credits/due.js';

type Refusal = Exclude<CreditsRejection, { code: 'PeriodIsClosed' }>;
export type CreditsOutcome = Outcome<CreditsEvent, Credits, Refusal>;

/** The credit books of all workspaces: executes commands on them and folds them. */
@Injectable()
export class CreditBooks {
  constructor(
    @Inject(CREDITS_EXECUTOR) private readonly executor: CreditsExecutor,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * @param command makes the command for a time in milliseconds
   * @param intent identifies this command within the book; a retry uses the same intent
   * @throws StoreUnavailable when the store is unavailable
   */
  async execute(
    workspaceId: string,
    command: (now: number) => CreditsCommand,
    intent: string,
    by: RequestContext,
  ): Promise<CreditsOutcome> {
    const decideAt = (now: number) =>
      this.executor.execute(workspaceId, command(now), { intent, by, workspaceId, at: now });
    const outcome = await decideAt(this.clock.now());
    if (!isPeriodClosed(outcome)) return outcome;
    // Another process, whose clock is ahead, closed the month. No new entry may be dated in it.
    return (await decideAt(outcome.details.notBefore)) as CreditsOutcome;
  }

  /** The book as the next command would find it, including everything due by now; `null` when it is not open. */
  async current(workspaceId: string): Promise<Credits | null> {
    const { state } = await this.executor.load(workspaceId);
    return state.workspaceId === null ? null : dueBy(state, this.clock.now()).state;
  }
}

const isPeriodClosed = <S, E>(
  outcome: Outcome<E, S, CreditsRejection>,
): outcome is Extract<Outcome<E, S, CreditsRejection>, { code: 'PeriodIsClosed' }> =>
  outcome.kind === 'rejected' && outcome.code === 'PeriodIsClosed';
