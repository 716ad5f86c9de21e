import type { INestApplicationContext } from '@nestjs/common';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Clock } from '@app/event-sourcing/core/clock.js';
import { EVENT_STORE, type EventStore } from '@app/event-sourcing/store/event-store.js';
import { EpochKeys } from '@app/platform/crypto/epochs/epoch-keys.js';
import { KeyUpkeep, upkeepSettings } from '@app/platform/crypto/epochs/key-upkeep.js';
import { KeyRing } from '@app/platform/crypto/key-ring.js';
import { POSTGRES } from '@app/platform/postgres/pool.js';
import { CLOCK } from '@app/platform/tokens.js';
import { repeatedWork } from '@app/platform/work/repeated-work.js';
import type { WorkLoop } from '@app/platform/work/work-registry.js';
import type { Config } from '../../service/src/settings.js';

/** Rewraps the keys of surviving readings with each new epoch's key, and destroys the keys of old epochs. */
export const keyUpkeep = (app: INestApplicationContext, config: Config, log: Logger): WorkLoop => {
  const parts = {
    pool: app.get<Pool>(POSTGRES),
    store: app.get<EventStore>(EVENT_STORE),
    clock: app.get<Clock>(CLOCK),
    ring: app.get(KeyRing),
    keys: app.get(EpochKeys),
    log,
  };
  const upkeep = new KeyUpkeep(parts, upkeepSettings(config));
  return repeatedWork('key-upkeep', config.KEY_UPKEEP_EVERY_MS, (signal) => upkeep.round(signal), log);
};
