import { Inject, Injectable } from '@nestjs/common';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import { ClockUntrusted, type TrustedClock } from '#event-sourcing/core/trusted-clock.js';
import type { Outcome } from '#event-sourcing/handling/command-executor.js';
import { TRUSTED_CLOCK } from '#platform/tokens.js';
import type { TestBookEvent } from '../contracts/test-book.js';
import type { TestBookCommand, TestBookRejection } from '../domain/test-book/test-book.commands.js';
import { testBookAt } from '../domain/test-book/test-book.decider.js';
import type { TestBook } from '../domain/test-book/test-book.state.js';
import { TEST_BOOK_EXECUTOR, type TestBookExecutor } from '../test-book.executor.js';

export type TestBookOutcome = Outcome<TestBookEvent, TestBook, TestBookRejection>;

/** The test books of all workspaces: executes commands on them and folds them. */
@Injectable()
export class TestBooks {
  constructor(
    @Inject(TEST_BOOK_EXECUTOR) private readonly executor: TestBookExecutor,
    @Inject(TRUSTED_CLOCK) private readonly clock: TrustedClock,
  ) {}

  /**
   * A fill is credits that time causes. So no command is executed while nobody knows the time, as in live books
   * (docs/adr/0021).
   * @param command makes the command for a time in milliseconds
   * @param intent identifies this command within the book; a retry uses the same intent
   * @throws StoreUnavailable when the store is unavailable; ClockUntrusted while the clocks differ
   */
  async execute(
    workspaceId: string,
    command: (now: number) => TestBookCommand,
    intent: string,
    by: RequestContext,
  ): Promise<TestBookOutcome> {
    const at = await this.clock.now();
    return this.executor.execute(workspaceId, command(at), { intent, by, workspaceId, at });
  }

  /** The book as it is recorded. */
  async recorded(workspaceId: string): Promise<TestBook> {
    return (await this.executor.load(workspaceId)).state;
  }

  /**
   * The book as the next reservation would find it: a full one if none was made yet. While the clocks differ, an open
   * book is shown as it is recorded.
   */
  async current(workspaceId: string): Promise<TestBook> {
    const book = await this.recorded(workspaceId);
    try {
      return testBookAt(book, workspaceId, await this.clock.now());
    } catch (error) {
      if (!(error instanceof ClockUntrusted)) throw error;
      return book.workspaceId === null ? testBookAt(book, workspaceId, 0) : book;
    }
  }
}
