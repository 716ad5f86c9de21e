import { REBUILDING_SESSION, Refused, type Workshop } from '@app/event-sourcing/rebuilding/versions.js';
import type { Projection } from '@app/event-sourcing/projections/projection.js';
import { openPool } from '@app/platform/postgres/pool.js';
import { OpsError } from '../../ops-error.js';
import { programFingerprint } from '../../program.js';
import { PROJECTIONS, requireProjection } from '../../projections.js';
import { withSession, type Session } from '../../session.js';

export interface Chosen {
  readonly all?: true;
}

/** The projection named, or all. @throws OpsError unless exactly one of the two was said */
export const chosenProjections = (name: string | undefined, { all }: Chosen): readonly Projection[] => {
  if ((name === undefined) === (all === undefined))
    throw new OpsError('Say which projection: either its name or --all. ops projections list shows them.');
  return name === undefined ? PROJECTIONS : [requireProjection(name)];
};

/** Connections that rebuilding uses at once: its lock, the live view held, the version, a snapshot, and one to spare. */
const CONNECTIONS = 5;
const silent = { warn: () => undefined, error: () => undefined };

/** As `withSession`, with what rebuilding works with. @throws OpsError with the reasons when it is refused */
export const withWorkshop = <T>(work: (workshop: Workshop, session: Session) => Promise<T>): Promise<T> =>
  withSession(async (session) => {
    // Versions of tables are made, renamed and dropped, which only their owner may.
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
