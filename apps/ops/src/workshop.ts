import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Projection } from '#event-sourcing/projections/projection.js';
import { REBUILDING_SESSION, Refused, type Workshop } from '#event-sourcing/projections/versions.js';
import { openPool } from '#platform/postgres/pool.js';
import { projectPath } from '#platform/project-path.js';
import { PROJECTIONS } from '../../service/src/projections.js';
import { OpsError } from './output.js';
import { withSession, type Session } from './session.js';

/** @throws OpsError when there is no projection of this name */
export const requireProjection = (name: string): Projection => {
  const found = PROJECTIONS.find((projection) => projection.name === name);
  if (found) return found;
  const known = PROJECTIONS.map((projection) => projection.name).join(', ');
  throw new OpsError(`There is no projection ${name}. Known projections: ${known}.`);
};

export interface Chosen {
  readonly all?: true;
}

/** The named projection, or all. @throws OpsError unless exactly one of the two was given */
export const chosenProjections = (name: string | undefined, { all }: Chosen): readonly Projection[] => {
  if ((name === undefined) === (all === undefined))
    throw new OpsError(
      'Choose either a projection by name or --all. ops projections status shows the names.',
    );
  return name === undefined ? PROJECTIONS : [requireProjection(name)];
};

/** A rebuild's lock, the paused live view, the new version, a snapshot, the lock of a restore, and a spare one. */
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
      return await work({ pool, store: session.store, log: silent, program: programFingerprint() }, session);
    } catch (error) {
      if (error instanceof Refused) throw new OpsError(error.message);
      throw error;
    } finally {
      await pool.end();
    }
  });

/** Compiled when this runs compiled. */
const libraries = projectPath(import.meta.url.includes('/dist/') ? 'dist/libs' : 'libs');

/** SHA-256 in hex of all code of the libraries, since any helper may influence a row, and of their pinned dependencies. */
export const programFingerprint = (): string => {
  const hash = createHash('sha256').update(readFileSync(projectPath('package.json')));
  const files = readdirSync(libraries, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(js|ts)$/.test(name),
  );
  for (const name of files.toSorted()) hash.update(`\n${name}\n`).update(readFileSync(join(libraries, name)));
  return hash.digest('hex');
};
