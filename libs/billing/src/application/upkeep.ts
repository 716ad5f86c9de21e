import { QueryHandler, type IQueryHandler, CommandBus } from '@nestjs/cqrs';
import { CorruptEvent } from '#event-sourcing/core/event-catalogue.js';
import { GetOpenHolds, AbandonReading } from '#readings/contracts/index.js';
import { Inject, Injectable } from '@nestjs/common';
import type pg from 'pg';
import { POSTGRES } from '#platform/postgres/pool.js';
import { type Mode, causedBy } from '#event-sourcing/core/request-context.js';
import { instant, type TrustedClock } from '#event-sourcing/core/clock.js';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import { CONFIG, TRUSTED_CLOCK } from '#platform/tokens.js';
import { keysOf } from '../domain/bucket-map.js';
import { CreditBooks, TestBooks, passOverUnreadable } from './credit-books.js';
import type { Config } from '../settings.js';

@QueryHandler(GetOpenHolds)
export class GetOpenHoldsHandler implements IQueryHandler<GetOpenHolds> {
  constructor(
    private readonly books: CreditBooks,
    private readonly testBooks: TestBooks,
  ) {}

  async execute({ workspaceId }: GetOpenHolds): Promise<readonly string[] | null> {
    try {
      const live = await this.books.current(workspaceId);
      const test = await this.testBooks.current(workspaceId);
      return [...(live ? keysOf(live.holds) : []), ...keysOf(test.holds)];
    } catch (error) {
      if (error instanceof CorruptEvent) return null;
      throw error;
    }
  }
}

const PAGE = 100;

const REASON = 'no reading was requested in time';

interface OldHold {
  workspace_id: string;
  mode: Mode;
  reservation_id: string;
  reading_id: string;
}

/**
 * Fences old holds without a reading, so that they are released. Such a hold may come from a request that crashed
 * between reserving and accepting.
 *
 * The reading's stream decides: once the hold is abandoned there, no reading can use it, and the settlement process
 * releases it. Any number of workers may do this at once.
 */
@Injectable()
export class HoldFence {
  constructor(
    private readonly commands: CommandBus,
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(TRUSTED_CLOCK) private readonly clock: TrustedClock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'RESERVATION_FENCE_MS'>,
  ) {}

  /**
   * Checks every old hold without a known reading once, page by page. A hold that fails does not stop the others.
   * @throws StoreUnavailable at once; any other failure after all holds were checked, the first one only
   */
  async sweep(signal: AbortSignal): Promise<void> {
    const failures: unknown[] = [];
    const reservedBefore = instant((await this.clock.now()) - this.config.RESERVATION_FENCE_MS);
    let last: OldHold | undefined;
    do {
      const page = await this.oldHolds(reservedBefore, last);
      for (const hold of page) {
        if (signal.aborted) return;
        await this.fence(hold).catch((error: unknown) => {
          if (error instanceof StoreUnavailable) throw error;
          failures.push(error);
        });
      }
      last = page.length === PAGE ? page.at(-1) : undefined;
    } while (last);
    if (failures.length > 0) throw failures[0];
  }

  private async fence({ workspace_id, mode, reservation_id, reading_id }: OldHold): Promise<void> {
    const command = new AbandonReading(reading_id, workspace_id, reservation_id, mode === 'live', REASON);
    const { outcome } = await this.commands.execute(command);
    if (outcome === 'abandoned') return;
    await this.pool.query(
      `update billing.hold set confirmed = true where workspace_id = $1 and mode = $2 and reservation_id = $3`,
      [workspace_id, mode, reservation_id],
    );
  }

  private async oldHolds(reservedBefore: string, after: OldHold | undefined): Promise<OldHold[]> {
    const { rows } = await this.pool.query<OldHold>(
      `select workspace_id, mode, reservation_id, reading_id from billing.hold
       where not confirmed and reserved_at < $1::timestamptz and (workspace_id, mode, reservation_id) > ($2, $3, $4)
       order by workspace_id, mode, reservation_id limit ${PAGE}`,
      [reservedBefore, after?.workspace_id ?? '', after?.mode ?? '', after?.reservation_id ?? ''],
    );
    return rows;
  }
}

/**
 * Lets idle books record what has become due. This only keeps statements and views current: a book in use does the same
 * before every decision. Nobody waits for the statement of a test book.
 */
@Injectable()
export class IdleBooks {
  constructor(
    private readonly books: CreditBooks,
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(TRUSTED_CLOCK) private readonly clock: TrustedClock,
  ) {}

  async nudge(signal: AbortSignal): Promise<void> {
    const now = instant(await this.clock.now());
    let last = '';
    do {
      const { rows } = await this.pool.query<{ workspace_id: string }>(
        `select workspace_id from billing.balance where mode = 'live' and due_at <= $1 and workspace_id > $2
         order by workspace_id limit ${PAGE}`,
        [now, last],
      );
      for (const { workspace_id } of rows) {
        if (signal.aborted) return;
        const cause = `due:${workspace_id}:${now}`;
        const by = causedBy({ correlationId: cause, causationId: cause }, 'billing.clock');
        await this.books.recordDue(workspace_id, by).catch(passOverUnreadable);
      }
      last = rows.length === PAGE ? rows.at(-1)!.workspace_id : '';
    } while (last !== '');
  }
}
