import { Inject, Injectable } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type pg from 'pg';
import { instant, type TrustedClock } from '#event-sourcing/core/clock.js';
import { causedBy } from '#event-sourcing/core/request-context.js';
import { isDependencyAway } from '#event-sourcing/store/errors.js';
import { DAY_MS, recordRound, refuseAfterPause } from '#platform/retention/retention.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { CONFIG, TRUSTED_CLOCK } from '#platform/tokens.js';
import { EraseReading } from '../../contracts/commands.js';
import { TEST_READINGS } from '../../read-models/reading/kept-test-readings.handler.js';
import { READING_EXECUTOR, type ReadingExecutor } from '../../reading.executor.js';
import type { Config } from '../../settings.js';

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
