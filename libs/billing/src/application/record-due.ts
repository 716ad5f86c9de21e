import { Inject, Injectable } from '@nestjs/common';
import type pg from 'pg';
import { instant, type TrustedClock } from '#event-sourcing/core/clock.js';
import { causedBy } from '#event-sourcing/core/request-context.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { TRUSTED_CLOCK } from '#platform/tokens.js';
import { CreditBooks, passOverUnreadable } from './credit-books.js';

const PAGE = 100;

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
