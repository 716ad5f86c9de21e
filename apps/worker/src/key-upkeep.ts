import type { INestApplicationContext } from '@nestjs/common';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { EpochKeys } from '#platform/crypto/epochs/epoch-keys.js';
import { KeyUpkeep, upkeepEveryMs, upkeepSettings } from '#platform/crypto/epochs/key-upkeep.js';
import { KeyRing } from '#platform/crypto/key-ring.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { TrustedTime } from '#platform/time/trusted-time.js';
import { repeatedWork } from '#platform/work/repeated-work.js';
import type { WorkLoop } from '#platform/work/work-registry.js';
import type { Config } from '../../service/src/settings.js';

/** Rewraps the keys of surviving readings with each new epoch's key, and destroys the keys of old epochs. */
export const keyUpkeep = (app: INestApplicationContext, config: Config, log: Logger): WorkLoop => {
  const parts = {
    pool: app.get<Pool>(POSTGRES),
    time: app.get(TrustedTime),
    ring: app.get(KeyRing),
    keys: app.get(EpochKeys),
    log,
  };
  const upkeep = new KeyUpkeep(parts, upkeepSettings(config));
  return repeatedWork('key-upkeep', upkeepEveryMs(config), (signal) => upkeep.round(signal), log);
};
