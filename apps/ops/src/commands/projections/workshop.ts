import { REBUILDING_SESSION, Refused, type Workshop } from '#event-sourcing/rebuilding/versions.js';
import type { Projection } from '#event-sourcing/projections/projection.js';
import { openPool } from '#platform/postgres/pool.js';
import { OpsError } from '../../ops-error.js';
import { programFingerprint } from '../../program.js';
import { PROJECTIONS, requireProjection } from '../../projections.js';
import { withSession, type Session } from '../../session.js';

export interface Chosen {
  readonly all?: true;
}

/** The named projection, or all. @throws OpsError unless exactly one of the two was given */
export const chosenProjections = (name: string | undefined, { all }: Chosen): readonly Projection[] => {
  if ((name === undefined) === (all === undefined))
    throw new OpsError('Choose either a projection by name or --all. ops projections list shows the names.');
  return name === undefined ? PROJECTIONS : [requireProjection(name)];
};

/**
 * Connections that a rebuild uses at once: its lock, the paused live view, the new version, a snapshot, the lock of a
 * restore, and a spare one.
 */
const CONNECTIONS = 6;
const silent = { warn: () => undefined, error: () => undefined };

/** Like `withSession`, with what a rebuild needs. @throws OpsError with the reasons when it is refused */
export const withWorkshop = <T>(work: (workshop: Workshop, session: Session) => Promise<T>): Promise<T> =>
  withSession(async (session) => {
    // Only the owner of the tables may create, rename and drop versions.
    const pool = openPool(session.config.DATABASE_OWNER_URL ?? session.config.DATABASE_URL, {
      size: CONNECTIONS,
      applicationName: 'reading-service ops projections',
      onError: () => undefined,
      sessionSettings: REBUILDING_SESSION,
    });
    try {
      const program = programFingerprint();
      return await work({ pool, store: session.store, log: silent, program }, session);
    } catch (error) {
      if (error instanceof Refused) throw new OpsError(error.message);
      throw error;
    } finally {
      await pool.end();
    }
  });
