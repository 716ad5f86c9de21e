import type { Pool } from 'pg';
import type { Registry } from 'prom-client';
import type { Config } from '../../config/settings.js';
import { scrapedGauges } from '../../telemetry/scraped-gauges.js';
import { EpochRows } from './epoch-rows.js';
import { overdueEpochs } from './key-status.js';
import { upkeepSettings } from './key-upkeep.js';

/** Whether keys are destroyed on time; every worker reports the same values. */
export const measureKeys = (pool: Pool, config: Config, registry: Registry): void =>
  scrapedGauges(
    registry,
    'keys',
    {
      key_epochs: { help: 'Epochs whose key-encryption keys are not destroyed' },
      key_epochs_overdue: { help: 'Epochs whose keys should already be destroyed' },
    },
    async () => {
      const overdue = await overdueEpochs(pool, {
        ...upkeepSettings(config),
        ringIds: config.ENCRYPTION_KEYS.map(({ id }) => id),
      });
      const epochs = (await new EpochRows(pool).all()).filter(({ destroyedAt }) => destroyedAt === null);
      return { key_epochs: [{ value: epochs.length }], key_epochs_overdue: [{ value: overdue }] };
    },
  );
