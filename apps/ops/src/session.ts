import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { requestedBy, type RequestContext } from '#event-sourcing/core/request-context.js';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import { within } from '#platform/async/within.js';
import { ConfigError, loadConfig } from '#platform/config/load-config.js';
import { dataDirOf } from '../../embedded/src/data-folder.js';
import { settings, type Config } from '../../service/src/settings.js';
import { OpsError } from './output.js';

/** The stores at DATABASE_URL, or those of the embedded stack on DATA_DIR, from its `runtime.json`. @throws OpsError */
export const readConnection = (environment: NodeJS.ProcessEnv): Config => {
  const given = environment['DATABASE_URL']
    ? environment
    : { ...readRuntimeFile(environment), ...environment };
  try {
    return loadConfig(settings, {
      // A person waits for the answer, so the time limit can be long.
      DATABASE_QUERY_TIMEOUT_MS: '10000',
      ...given,
      LOG_LEVEL: 'silent',
    });
  } catch (error) {
    if (error instanceof ConfigError) throw new OpsError(error.message);
    throw error;
  }
};

const readRuntimeFile = (environment: NodeJS.ProcessEnv): Record<string, string> => {
  const path = join(dataDirOf(environment), 'runtime.json');
  if (!existsSync(path)) {
    throw new OpsError(
      `No stack is running on ${path.replace(/runtime\.json$/, '')}: start it with npm start, set DATA_DIR to its folder, or set DATABASE_URL and EVENTSTORE_URL.`,
    );
  }
  const runtime = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(runtime).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
};

/** A container may run under a user id that `/etc/passwd` does not list; its name is then `uid-<id>`. */
const loginName = (): string => {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
};

type Application = Awaited<ReturnType<typeof import('./application.js').openApplication>>;

/** What a running command works with. */
export interface Session extends Omit<Application, 'stop' | 'workspaceExists'> {
  readonly config: Config;
  /** `operator:<login name>`, recorded with every event. */
  readonly actor: string;
  /** A request of billing or webhooks, whose ids begin with `ops_`. Other modules take `ownRequest(actor)`. */
  readonly by: () => RequestContext;
  /** @throws OpsError when there is no such workspace */
  readonly requireWorkspace: (workspaceId: string) => Promise<void>;
}

/** For commands that are idempotent. */
export const HARMLESS_TO_REPEAT = 'repeating the command is safe';

const CLOSE_WITHIN_MS = 5_000;

/**
 * @param whenUnknown what to do when it is unknown whether the event was recorded
 */
export const withSession = async <T>(
  work: (session: Session) => Promise<T>,
  whenUnknown = 'check before you repeat the command',
): Promise<T> => {
  const config = readConnection(process.env);
  // Loaded late, so that help appears at once.
  const { openApplication } = await import('./application.js');
  const { stop, workspaceExists, ...application } = await openApplication(config);
  const actor = `operator:${config.OPERATOR_NAME ?? loginName()}`;
  try {
    return await work({
      ...application,
      config,
      actor,
      by: () => requestedBy(actor, `ops_${randomUUID()}`),
      requireWorkspace: async (workspaceId) => {
        if (!(await workspaceExists(workspaceId))) {
          throw new OpsError(`There is no workspace ${workspaceId}: ops workspace list shows them.`);
        }
      },
    });
  } catch (error) {
    if (error instanceof StoreUnavailable && error.outcomeUnknown) {
      throw new OpsError(`${error.message}. It may have been recorded: ${whenUnknown}.`);
    }
    throw error;
  } finally {
    // The work is done or refused by now: do not wait for connections that fail to close.
    await within(CLOSE_WITHIN_MS, stop());
  }
};

/** {@link withSession} for one workspace; `null`: for all. @throws OpsError when there is no such workspace */
export const withWorkspace = <T>(
  workspaceId: string | null,
  work: (session: Session) => Promise<T>,
  whenUnknown?: string,
): Promise<T> =>
  withSession(async (session) => {
    if (workspaceId !== null) await session.requireWorkspace(workspaceId);
    return work(session);
  }, whenUnknown);
