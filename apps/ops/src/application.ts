import type { CommandBus, QueryBus } from '@nestjs/cqrs';
import { steadyClock, systemClock } from '@app/event-sourcing/core/clock.js';
import { withSetAside } from '@app/event-sourcing/parking/set-aside.js';
import { EVENT_STORE } from '@app/event-sourcing/store/event-store.js';
import { eventStoreOptions } from '@app/platform/config/event-store-options.js';
import { Digester } from '@app/platform/crypto/digest.js';
import { EpochKeys } from '@app/platform/crypto/epochs/epoch-keys.js';
import { openEpochKeys } from '@app/platform/crypto/epochs/open-epoch-keys.js';
import { installationOf } from '@app/platform/crypto/installation.js';
import { KeyRing } from '@app/platform/crypto/key-ring.js';
import { SubjectKeys } from '@app/platform/crypto/subject-keys.js';
import { openPool, POSTGRES } from '@app/platform/postgres/pool.js';
import { TrustedTime } from '@app/platform/time/trusted-time.js';
import { CLOCK, CONFIG, LOGGER, STEADY_CLOCK, TRUSTED_CLOCK } from '@app/platform/tokens.js';
import { WorkspaceExists } from '@app/workspaces/contracts/index.js';
import type { Config } from '../../service/src/settings.js';
import { lazyEventStore } from './lazy-event-store.js';
import { Modules } from './modules.js';

/** Of a command to PostgreSQL. DATABASE_POOL_SIZE is that of the processes. */
const CONNECTIONS = 4;

/**
 * Connects to the stores and handles every module's commands and queries. Each connection and each module loads when
 * something first needs it. `stop` disconnects.
 */
export const openApplication = (config: Config) => {
  const pool = openPool(config.DATABASE_URL, {
    connectTimeoutMs: config.DATABASE_CONNECT_TIMEOUT_MS,
    size: CONNECTIONS,
    queryTimeoutMs: config.DATABASE_QUERY_TIMEOUT_MS,
    applicationName: 'reading-service ops',
    installation: { name: installationOf(config), isNoted: false },
    onError: () => undefined,
  });
  const store = withSetAside(
    lazyEventStore(async () => {
      const { openEventStore } = await import('@app/event-sourcing/store/eventstoredb.js');
      return await openEventStore(eventStoreOptions(config));
    }),
  );
  const ring = new KeyRing(config.ENCRYPTION_KEYS);
  const keys = openEpochKeys(pool, ring, config);
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const time = new TrustedTime({ pool, store, clock: systemClock, config, log });
  const { execute } = new Modules(
    new Map<unknown, unknown>([
      [CONFIG, config],
      [LOGGER, log],
      [CLOCK, systemClock],
      [STEADY_CLOCK, steadyClock],
      [TRUSTED_CLOCK, time],
      [POSTGRES, pool],
      [EVENT_STORE, store],
      [KeyRing, ring],
      [EpochKeys, keys],
      [SubjectKeys, new SubjectKeys(pool, keys)],
      [Digester, new Digester(config.DIGEST_KEY)],
    ]),
  );
  const queries = { execute } as Pick<QueryBus, 'execute'>;
  return {
    commands: { execute } as Pick<CommandBus, 'execute'>,
    queries,
    store,
    pool,
    ring,
    keys,
    time,
    workspaceExists: (workspaceId: string): Promise<boolean> =>
      queries.execute(new WorkspaceExists(workspaceId)),
    stop: () => Promise.allSettled([pool.end(), store.close()]),
  };
};
