import { Inject, Injectable } from '@nestjs/common';
import {
  CommandBus,
  CommandHandler,
  type ICommandHandler,
  type IQueryHandler,
  QueryHandler,
} from '@nestjs/cqrs';
import type pg from 'pg';
import { type Clock, instant, type TrustedClock } from '#event-sourcing/core/clock.js';
import { causedBy } from '#event-sourcing/core/request-context.js';
import { isDependencyAway } from '#event-sourcing/store/errors.js';
import { upkeepEveryMs } from '#platform/crypto/epochs/key-upkeep.js';
import { SubjectKeys } from '#platform/crypto/subject-keys.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { DAY_MS, recordRound, refuseAfterPause, retentionStatus } from '#platform/retention/retention.js';
import type { RetentionStatus } from '#platform/retention/retention-status.js';
import { heldRows } from '#platform/retention/rows.js';
import { CLOCK, CONFIG, TRUSTED_CLOCK } from '#platform/tokens.js';
import { AbandonReading, EraseReading, LookAtTestReadings } from '../contracts/messages.js';
import { WithdrawPublication } from '../contracts/ports.js';
import { READING_EXECUTOR, type ReadingExecutor } from '../executors.js';
import type { Config } from '../settings.js';

/**
 * Withdraws the publication, records the erasure, then destroys the reading's key. No transaction spans the two
 * streams. The withdrawal comes first, so nothing can be published after the erasure.
 * A crash after the withdrawal is repaired by the erasure process, which repeats the command. A crash before the key is
 * destroyed is repaired by the projection. It destroys the key of every reading whose stream has `ReadingErased`.
 */
@CommandHandler(EraseReading)
export class EraseReadingHandler implements ICommandHandler<EraseReading> {
  constructor(
    @Inject(READING_EXECUTOR) private readonly executor: ReadingExecutor,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly keys: SubjectKeys,
    private readonly commands: CommandBus,
  ) {}

  async execute({ readingId, workspaceId, by }: EraseReading) {
    const { state } = await this.executor.load(readingId);
    if (state.status === 'none')
      return { outcome: state.erased ? 'already_erased' : 'unknown_reading' } as const;
    await this.commands.execute(new WithdrawPublication(readingId, workspaceId, by));
    await this.executor.execute(
      readingId,
      { type: 'EraseReading' },
      { intent: 'erase', by, workspaceId, at: this.clock.now() },
    );
    await this.keys.destroy(readingId);
    // The process may have recorded the erasure meanwhile. This request still succeeded.
    return { outcome: state.erased ? 'already_erased' : 'erased' } as const;
  }
}

@CommandHandler(AbandonReading)
export class AbandonReadingHandler implements ICommandHandler<AbandonReading> {
  constructor(
    @Inject(READING_EXECUTOR) private readonly executor: ReadingExecutor,
    @Inject(TRUSTED_CLOCK) private readonly clock: TrustedClock,
  ) {}

  async execute({ readingId, workspaceId, reservationId, livemode, reason }: AbandonReading) {
    const cause = { correlationId: reservationId, causationId: reservationId };
    const outcome = await this.executor.execute(
      readingId,
      { type: 'AbandonReading', workspaceId, reservationId, livemode, reason },
      {
        intent: `abandon:${reservationId}`,
        by: causedBy(cause, 'readings.fence'),
        workspaceId,
        at: await this.clock.now(),
      },
    );
    return { outcome: outcome.kind === 'rejected' ? 'claimed' : 'abandoned' } as const;
  }
}

/** The kind under which the sweep of test readings records its rounds. */
const TEST_READINGS = 'test-readings';

@QueryHandler(LookAtTestReadings)
export class LookAtTestReadingsHandler implements IQueryHandler<LookAtTestReadings> {
  constructor(
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(CONFIG) private readonly config: Pick<Config, 'TEST_DATA_KEPT_DAYS' | 'KEY_EPOCH_MS'>,
  ) {}

  execute({ now }: LookAtTestReadings): Promise<RetentionStatus> {
    const rows = { table: 'readings.reading', at: 'created_at', where: 'not livemode and erased_at is null' };
    return retentionStatus(
      this.pool,
      {
        kind: TEST_READINGS,
        what: 'personal data of test readings, which ends by erasure',
        setting: 'TEST_DATA_KEPT_DAYS',
        days: this.config.TEST_DATA_KEPT_DAYS,
        graceDays: 0,
        everyMs: upkeepEveryMs(this.config),
        held: (before) => heldRows(this.pool, rows, before),
      },
      now,
    );
  }
}

/** Readings found with one statement. */
const PAGE = 200;

interface OldReading {
  readonly reading_id: string;
  readonly workspace_id: string;
  /** Text, to keep the database's microseconds. */
  readonly created_at: string;
}

/**
 * Erases test readings older than TEST_DATA_KEPT_DAYS, as their owner could. The table only proposes; the reading's own
 * stream says that it is a test reading, because an erasure cannot be undone. Any number of workers may sweep at once.
 */
@Injectable()
export class TestReadingSweep {
  constructor(
    private readonly commands: CommandBus,
    @Inject(READING_EXECUTOR) private readonly executor: ReadingExecutor,
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(TRUSTED_CLOCK) private readonly clock: TrustedClock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'TEST_DATA_KEPT_DAYS'>,
  ) {}

  /**
   * Looks at every old test reading once, the oldest first. One that fails does not stop the others.
   * @throws ClockUntrusted, or Error after a long pause, before anything is erased; StoreUnavailable at once; any other failure at the end
   */
  async sweep(signal: AbortSignal): Promise<void> {
    const now = await this.clock.now();
    await refuseAfterPause(this.pool, now);
    const keptSince = now - this.config.TEST_DATA_KEPT_DAYS * DAY_MS;
    const before = instant(keptSince);
    let removed = 0;
    const failures: unknown[] = [];
    let last: OldReading | undefined;
    do {
      const page = await this.oldReadings(before, last);
      for (const reading of page) {
        if (signal.aborted) return;
        await this.erase(reading).then(
          () => (removed += 1),
          (error: unknown) => {
            if (isDependencyAway(error)) throw error;
            failures.push(error);
          },
        );
      }
      last = page.length === PAGE ? page.at(-1) : undefined;
    } while (last);
    if (failures.length > 0) throw failures[0];
    await recordRound(this.pool, TEST_READINGS, now, { removed, keptSince });
  }

  private async erase({ reading_id: readingId, workspace_id: workspaceId }: OldReading): Promise<void> {
    const { state } = await this.executor.load(readingId);
    if (state.status !== 'none' && state.request.livemode)
      throw new Error('A live reading is in the list of test readings');
    const cause = { correlationId: readingId, causationId: readingId };
    await this.commands.execute(
      new EraseReading(readingId, workspaceId, causedBy(cause, 'readings.test-sweep')),
    );
  }

  private async oldReadings(before: string, after: OldReading | undefined): Promise<OldReading[]> {
    const { rows } = await this.pool.query<OldReading>(
      `select reading_id, workspace_id, created_at::text from readings.reading
       where not livemode and erased_at is null and created_at < $1::timestamptz
         and ($2::text is null or (created_at, reading_id) > ($2::timestamptz, $3::uuid))
       order by reading.created_at, reading_id limit ${PAGE}`,
      [before, after?.created_at ?? null, after?.reading_id ?? null],
    );
    return rows;
  }
}
