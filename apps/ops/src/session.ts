import type { CommandBus, QueryBus } from '@nestjs/cqrs';
import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { ClockUntrusted } from '#event-sourcing/core/trusted-clock.js';
import { isDependencyAway } from '#event-sourcing/store/dependency-away.js';
import { StoreDamaged, StoreUnavailable } from '#event-sourcing/store/errors.js';
import { requestedBy, type RequestContext } from '#event-sourcing/core/request-context.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import type { EpochKeys } from '#platform/crypto/epochs/epoch-keys.js';
import type { KeyRing } from '#platform/crypto/key-ring.js';
import { KeysUnavailable } from '#platform/crypto/wrapping-keys.js';
import { faultOf } from '#platform/fault/fault.js';
import { within } from '#platform/async/within.js';
import type { TrustedTime } from '#platform/time/trusted-time.js';
import { readConnection } from './connection.js';
import { loginName } from './login-name.js';
import { OpsError } from './ops-error.js';
import type { Config } from '../../service/src/settings.js';

/** What a running command works with. */
export interface Session {
  readonly commands: Pick<CommandBus, 'execute'>;
  readonly queries: Pick<QueryBus, 'execute'>;
  readonly store: EventStore;
  readonly pool: Pool;
  readonly config: Config;
  readonly ring: KeyRing;
  readonly keys: EpochKeys;
  readonly time: TrustedTime;
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
 * Connects, runs the work, disconnects.
 * @param whenUnknown what the operator should do when it is unknown whether the event was recorded; the default suits
 *   every command
 * @throws OpsError in one clear line when the stores cannot be reached
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
    if (error instanceof StoreDamaged) {
      throw new OpsError(`${error.message} Restore a backup: docs/runbook.md, "A damaged event store".`);
    }
    if (error instanceof ClockUntrusted) {
      throw new OpsError(
        `Nothing was done: ${error.message}. Correct it (NTP); ops doctor compares the clocks.`,
      );
    }
    if (error instanceof KeysUnavailable) {
      throw new OpsError(`A key cannot be used now: ${error.message}. ops keys status says more.`);
    }
    // Its message and advice say more than that the stack is away.
    const fault = faultOf(error);
    if (fault && fault.kind !== 'absent') throw error;
    if (isDependencyAway(error)) {
      throw new OpsError(`The stack cannot be reached (${(error as Error).message}). Is it running?`);
    }
    throw error;
  } finally {
    // The work is done or refused by now: do not wait for connections that fail to close.
    await within(CLOSE_WITHIN_MS, stop());
  }
};
