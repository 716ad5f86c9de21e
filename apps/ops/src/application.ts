import { NestFactory } from '@nestjs/core';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import type { Pool } from 'pg';
import { EVENT_STORE, type EventStore } from '@app/event-sourcing/store/event-store.js';
import { EpochKeys } from '@app/platform/crypto/epochs/epoch-keys.js';
import { KeyRing } from '@app/platform/crypto/key-ring.js';
import { POSTGRES } from '@app/platform/postgres/pool.js';
import { createLogger } from '@app/platform/telemetry/logger.js';
import { TrustedTime } from '@app/platform/time/trusted-time.js';
import { WorkspaceExists } from '@app/workspaces/contracts/index.js';
import type { Config } from '../../service/src/settings.js';
import { OpsModule } from './ops.module.js';

/** Connects every module's commands and queries. `stop` disconnects. */
export const openApplication = async (config: Config) => {
  const log = createLogger('ops', 'silent');
  const app = await NestFactory.createApplicationContext(OpsModule.forProcess(config, log), {
    logger: false,
  });
  const queries = app.get(QueryBus);
  return {
    commands: app.get(CommandBus),
    queries,
    store: app.get<EventStore>(EVENT_STORE),
    pool: app.get<Pool>(POSTGRES),
    ring: app.get(KeyRing),
    keys: app.get(EpochKeys),
    time: app.get(TrustedTime),
    workspaceExists: (workspaceId: string): Promise<boolean> =>
      queries.execute(new WorkspaceExists(workspaceId)),
    stop: () => app.close(),
  };
};
