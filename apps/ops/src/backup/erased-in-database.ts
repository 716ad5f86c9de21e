import type pg from 'pg';
import { furthestCheckpoint, onDatabase } from './copy-tables.js';
import type { ErasedReading } from './erased-reading.js';
import type { Manifest } from './manifest.js';

export interface ReplacedErasures {
  readonly erased: readonly ErasedReading[];
  /** Whether the database is newer than the backup. An empty one, or the rest of a broken restore, is not. */
  readonly isNewer: boolean;
}

/** The erased readings of a database that a restore replaces. A damaged one may know none. */
export const erasedInDatabase = (url: string, { postgres }: Manifest): Promise<ReplacedErasures> =>
  onDatabase(url, async (client) => {
    const erased = await erasedReadings(client).catch(() => null);
    const checkpoint = await furthestCheckpoint(client).catch(() => null);
    const isNewer = checkpoint !== null && BigInt(checkpoint) > BigInt(postgres.furthestCheckpoint ?? -1);
    return { erased: erased ?? [], isNewer: erased !== null && isNewer };
  });

const erasedReadings = async (client: pg.ClientBase): Promise<readonly ErasedReading[]> => {
  const { rows } = await client.query<ErasedReading>(
    `select reading_id as "readingId", workspace_id as "workspaceId" from readings.reading
     where erased_at is not null`,
  );
  return rows;
};
