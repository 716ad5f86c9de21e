import { NestFactory } from '@nestjs/core';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import type { Pool } from 'pg';
import { isDependencyAway } from '@app/event-sourcing/store/dependency-away.js';
import { EVENT_STORE, type EventStore } from '@app/event-sourcing/store/event-store.js';
import type { Config } from '@app/platform/config/settings.js';
import { POSTGRES } from '@app/platform/postgres/pool.js';
import { createLogger } from '@app/platform/telemetry/logger.js';
import { WorkspaceExists } from '@app/workspaces/contracts/index.js';
import { readConnection } from './connection.js';
import { OpsError } from './ops-error.js';
import { OpsModule } from './ops.module.js';

/** What a command works with while it runs. */
export interface Session {
  readonly commands: CommandBus;
  readonly queries: QueryBus;
  readonly store: EventStore;
  readonly pool: Pool;
  readonly config: Config;
  /** `operator:<login name>`, recorded with every event. */
  readonly actor: string;
  /** Who asks, for a command of another module. */
  readonly by: () => { actor: string; correlationId: string; causationId: string };
  /** @throws OpsError when there is no such workspace */
  readonly requireWorkspace: (workspaceId: string) => Promise<void>;
}

/** Connects, does the work, disconnects. @throws OpsError in one clear line when the stores cannot be reached */
export const withSession = async <T>(work: (session: Session) => Promise<T>): Promise<T> => {
  const config = readConnection(process.env);
  const app = await NestFactory.createApplicationContext(
    OpsModule.forProcess(config, createLogger('ops', 'silent')),
    {
      logger: false,
    },
  );
  const queries = app.get(QueryBus);
  const actor = `operator:${userInfo().username}`;
  try {
    return await work({
      commands: app.get(CommandBus),
      queries,
      store: app.get<EventStore>(EVENT_STORE),
      pool: app.get<Pool>(POSTGRES),
      config,
      actor,
      by: () => {
        const id = `ops_${randomUUID()}`;
        return { actor, correlationId: id, causationId: id };
      },
      requireWorkspace: async (workspaceId) => {
        if (!(await queries.execute(new WorkspaceExists(workspaceId)))) {
          throw new OpsError(`There is no workspace ${workspaceId}: ops workspace list shows them.`);
        }
      },
    });
  } catch (error) {
    if (isDependencyAway(error)) {
      throw new OpsError(`The stack cannot be reached (${(error as Error).message}). Is it running?`);
    }
    throw error;
  } finally {
    await app.close();
  }
};
