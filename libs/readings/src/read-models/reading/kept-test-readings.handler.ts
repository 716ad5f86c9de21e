import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type pg from 'pg';
import { upkeepEveryMs } from '#platform/crypto/epochs/key-upkeep.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { retentionStatus } from '#platform/retention/retention.js';
import type { RetentionStatus } from '#platform/retention/retention-status.js';
import { heldRows } from '#platform/retention/rows.js';
import { CONFIG } from '#platform/tokens.js';
import { LookAtTestReadings } from '../../contracts/queries.js';
import type { Config } from '../../settings.js';

/** The kind under which the sweep of test readings records its rounds. */
export const TEST_READINGS = 'test-readings';

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
