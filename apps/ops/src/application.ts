import type { Provider } from '@nestjs/common';
import type { CommandBus, QueryBus } from '@nestjs/cqrs';
import { steadyClock, systemClock } from '#event-sourcing/core/clock.js';
import { withSetAside } from '#event-sourcing/projections/set-aside.js';
import { EVENT_STORE } from '#event-sourcing/store/event-store.js';
import { openEventStore } from '#event-sourcing/store/eventstoredb.js';
import { eventStoreOptions } from '#platform/config/event-store-options.js';
import { Digester } from '#platform/crypto/digest.js';
import { EpochKeys, openEpochKeys } from '#platform/crypto/epochs/epoch-keys.js';
import { installationOf } from '#platform/crypto/installation.js';
import { KeyRing } from '#platform/crypto/key-ring.js';
import { SubjectKeys } from '#platform/crypto/subject-keys.js';
import { openPool, POSTGRES } from '#platform/postgres/pool.js';
import { TrustedTime } from '#platform/time/trusted-time.js';
import { CLOCK, CONFIG, LOGGER, STEADY_CLOCK, TRUSTED_CLOCK } from '#platform/tokens.js';
import { GetWorkspace } from '#workspaces/contracts/index.js';
import type { Config } from '../../service/src/settings.js';

/** Of a command to PostgreSQL. DATABASE_POOL_SIZE is that of the processes. */
const CONNECTIONS = 4;

/** Connects to the stores. Nest and the modules load with the first message, because many commands send none. */
export const openApplication = async (config: Config) => {
  const pool = openPool(config.DATABASE_URL, {
    connectTimeoutMs: config.DATABASE_QUERY_TIMEOUT_MS,
    size: CONNECTIONS,
    queryTimeoutMs: config.DATABASE_QUERY_TIMEOUT_MS,
    applicationName: 'reading-service ops',
    installation: { name: installationOf(config), isNoted: false },
    onError: () => undefined,
  });
  const store = withSetAside(await openEventStore(eventStoreOptions(config)));
  const ring = new KeyRing(config.ENCRYPTION_KEYS);
  const keys = openEpochKeys(pool, ring, config);
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const time = new TrustedTime({ pool, store, clock: systemClock, config, log });
  const platform: Provider[] = [
    { provide: CONFIG, useValue: config },
    { provide: LOGGER, useValue: log },
    { provide: CLOCK, useValue: systemClock },
    { provide: STEADY_CLOCK, useValue: steadyClock },
    { provide: TRUSTED_CLOCK, useValue: time },
    { provide: POSTGRES, useValue: pool },
    { provide: EVENT_STORE, useValue: store },
    { provide: KeyRing, useValue: ring },
    { provide: EpochKeys, useValue: keys },
    { provide: SubjectKeys, useValue: new SubjectKeys(pool, keys) },
    { provide: Digester, useValue: new Digester(config.DIGEST_KEY) },
  ];
  let opening: ReturnType<typeof import('./ops.module.js').openContext> | undefined;
  const context = () =>
    (opening ??= import('./ops.module.js').then(({ openContext }) => openContext(platform)));
  const commands: Pick<CommandBus, 'execute'> = {
    execute: async (command: object) => (await context()).commands.execute(command as never),
  };
  const queries: Pick<QueryBus, 'execute'> = {
    execute: async (query: object) => (await context()).queries.execute(query as never),
  };
  return {
    commands,
    queries,
    store,
    pool,
    ring,
    keys,
    time,
    workspaceExists: async (workspaceId: string): Promise<boolean> =>
      (await queries.execute(new GetWorkspace(workspaceId))) !== null,
    stop: async (): Promise<void> => {
      // A context that could not be made has been reported by the command that needed it.
      await opening?.then(
        ({ close }) => close(),
        () => undefined,
      );
      await Promise.allSettled([pool.end(), store.close()]);
    },
  };
};
