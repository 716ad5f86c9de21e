import { Inject, Injectable } from '@nestjs/common';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import { ClockUntrusted, type TrustedClock } from '#event-sourcing/core/clock.js';
import type { Outcome } from '#event-sourcing/commands/command-executor.js';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import { TRUSTED_CLOCK } from '#platform/tokens.js';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CorruptEvent } from '#event-sourcing/core/event-catalogue.js';
import type { CreditsEvent } from '../contracts/events.js';
import type { CreditsCommand, CreditsRejection, SentCommand } from '../domain/credits.decider.js';
import { CREDITS_EXECUTOR, type CreditsExecutor, TEST_BOOK_EXECUTOR } from '../executors.js';
import { type Credits, evolve } from '../domain/credits.state.js';
import { isDue, stateAt } from '../domain/due.js';
import { monthOf } from '../domain/calendar.js';
import { filledAt } from '../domain/test-credits.js';
import { OpenBook } from '../contracts/messages.js';

/** Of a command: what was due before it is recorded, however much it was. */
export type CreditsOutcome = Outcome<
  CreditsEvent,
  Credits,
  Exclude<CreditsRejection, { readonly code: 'TooMuchDue' }>
>;

/** Appends that one command makes for what is due, at most: some 150 MB. */
const MOST_APPENDS = 200;

/** The credit books of all workspaces: executes commands on them and folds them. */
@Injectable()
export class CreditBooks {
  constructor(
    @Inject(CREDITS_EXECUTOR) protected readonly executor: CreditsExecutor,
    @Inject(TRUSTED_CLOCK) private readonly clock: TrustedClock,
  ) {}

  /**
   * Every command first records what is due. So none is executed while nobody knows the time. What is due may take
   * several appends: each is complete in itself, and the next command continues after a crash.
   *
   * @param command makes the command for a time in milliseconds
   * @param intent identifies this command within the book; a retry uses the same intent
   * @throws StoreUnavailable when the store is unavailable; ClockUntrusted while the clocks differ
   */
  async execute(
    workspaceId: string,
    command: (now: number) => SentCommand,
    intent: string,
    by: RequestContext,
  ): Promise<CreditsOutcome> {
    const recordDue = (now: number): SentCommand => ({ type: 'RecordDue', now });
    for (let appends = 0; appends < MOST_APPENDS; appends += 1) {
      const now = await this.clock.now();
      const asked = command(now);
      const outcome = await this.ask(workspaceId, asked, intent, by);
      if (outcome.kind === 'rejected' && outcome.code === 'TooMuchDue')
        await this.ask(workspaceId, recordDue(now), `due:${intent}`, by);
      else if (asked.type !== 'RecordDue' || !isDue(outcome.state, now)) return outcome;
    }
    throw new StoreUnavailable(`More is due in the book of ${workspaceId} than one command records`, false);
  }

  private ask(
    workspaceId: string,
    command: SentCommand,
    intent: string,
    by: RequestContext,
  ): Promise<Outcome<CreditsEvent, Credits, CreditsRejection>> {
    const asked = { actor: by.actor, ...command } as CreditsCommand;
    return this.executor.execute(workspaceId, asked, { intent, by, workspaceId, at: command.now });
  }

  async recordDue(workspaceId: string, by: RequestContext): Promise<void> {
    await this.execute(workspaceId, (now) => ({ type: 'RecordDue', now }), `due:${by.causationId}`, by);
  }

  /**
   * The book as the next command would find it, including everything due by now; `null` when it is not open. While the
   * clocks differ: the book as it is recorded.
   */
  async current(workspaceId: string): Promise<Credits | null> {
    const { state } = await this.executor.load(workspaceId);
    if (state.workspaceId === null) return null;
    const now = await this.now();
    return now === null ? state : stateAt(state, now);
  }

  /** `null` while the clocks differ. */
  protected async now(): Promise<number | null> {
    try {
      return await this.clock.now();
    } catch (error) {
      if (error instanceof ClockUntrusted) return null;
      throw error;
    }
  }
}

/** The test books of all workspaces: credit books in streams of their own. The first command opens one. */
@Injectable()
export class TestBooks extends CreditBooks {
  constructor(
    @Inject(TEST_BOOK_EXECUTOR) executor: CreditsExecutor,
    @Inject(TRUSTED_CLOCK) clock: TrustedClock,
  ) {
    super(executor, clock);
  }

  override async execute(
    workspaceId: string,
    command: (now: number) => SentCommand,
    intent: string,
    by: RequestContext,
  ): Promise<CreditsOutcome> {
    const outcome = await super.execute(workspaceId, command, intent, by);
    if (outcome.kind !== 'rejected' || outcome.code !== 'BookNotOpen') return outcome;
    await super.execute(workspaceId, (now) => ({ type: 'OpenBook', workspaceId, now }), 'open', by);
    return super.execute(workspaceId, command, intent, by);
  }

  /** The book as the next reservation would find it: never `null`, because a book that is not open yet is full. */
  override async current(workspaceId: string): Promise<Credits> {
    const { state } = await this.executor.load(workspaceId);
    const now = await this.now();
    if (state.workspaceId !== null) return now === null ? state : filledAt(state, now);
    const period = monthOf(now ?? 0);
    return filledAt(evolve(state, { type: 'BookOpened', data: { workspaceId, period } }), now ?? 0);
  }
}

@CommandHandler(OpenBook)
export class OpenBookHandler implements ICommandHandler<OpenBook> {
  constructor(private readonly books: CreditBooks) {}

  async execute({ workspaceId, by }: OpenBook): Promise<void> {
    await this.books.execute(workspaceId, (now) => ({ type: 'OpenBook', workspaceId, now }), 'open', by);
  }
}

/** Work on many books catches with it: a book that cannot be read waits for an operator, the others do not wait. */
export const passOverUnreadable = (error: unknown): void => {
  if (!(error instanceof CorruptEvent)) throw error;
};
