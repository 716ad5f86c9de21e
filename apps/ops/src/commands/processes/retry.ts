import { recordRetry, type StoppedStream } from '@app/event-sourcing/processes/interventions.js';
import { OpsError } from '../../ops-error.js';
import type { Session } from '../../session.js';
import { releaseStopped, stoppedOf, type Wanted } from '../quarantine/release.js';

/** What a retry found stopped, and what is still stopped after it. */
export interface Retried {
  readonly before: readonly StoppedStream[];
  readonly left: readonly StoppedStream[];
}

/**
 * Has what is stopped tried again, and records who asked for it and why: before the attempt, so that none goes unrecorded.
 * @param reason `null`: none was given
 * @throws OpsError when nothing is stopped there
 */
export const retryStopped = async (
  session: Session,
  wanted: Wanted & { readonly consumer: string },
  reason: string | null,
  waitSeconds: number,
): Promise<Retried> => {
  const before = await requireStopped(session, wanted);
  const { pool, actor, config } = session;
  await recordRetry(pool, before, { retriedBy: actor, reason, keptDays: config.AUDIT_RETENTION_DAYS });
  return { before, left: await releaseStopped(session, wanted, waitSeconds) };
};

/** @throws OpsError when nothing is stopped there */
export const requireStopped = async (
  session: Session,
  wanted: Wanted & { readonly consumer: string },
): Promise<readonly StoppedStream[]> => {
  const stopped = await stoppedOf(session, wanted);
  if (stopped.length === 0)
    throw new OpsError(
      `${wanted.consumer} is not stopped${wanted.stream === undefined ? '' : ` at ${wanted.stream}`}: ops processes parked shows what is.`,
    );
  return stopped;
};
