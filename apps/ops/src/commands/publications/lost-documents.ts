import type { Pool } from 'pg';
import { DOCUMENT_FORMATS } from '#publishing/contracts/index.js';

/** A published version that lacks formats although its reading was not erased. */
export interface LostDocument {
  readonly readingId: string;
  readonly version: number;
}

export interface LostPage {
  readonly lost: readonly LostDocument[];
  /** Published versions looked at. */
  readonly looked: number;
  /** The last reading looked at; `null` at the end of the table. */
  readonly last: string | null;
}

export const FIRST_READING = '00000000-0000-0000-0000-000000000000';

/**
 * Compares published versions with the stored formats, by index only. A reading without a key was erased, or its
 * documents are no use.
 * @param after the reading after which to begin
 * @param limit published versions to look at
 */
export const lostDocuments = async (pool: Pool, after: string, limit: number): Promise<LostPage> => {
  const { rows } = await pool.query<{ reading_id: string; version: number; is_lost: boolean }>(
    `select reading_id, version,
            (select count(*) from publishing.artifact
             where artifact.reading_id = page.reading_id and artifact.version = page.version) < $3
              and exists (select from platform.subject_key where subject_id = page.reading_id) as is_lost
     from (select reading_id, version from publishing.publication
           where published_at is not null and reading_id > $1 order by reading_id, version limit $2) as page`,
    [after, limit, DOCUMENT_FORMATS.length],
  );
  const last = rows.at(-1)?.reading_id ?? null;
  // A page may end between the versions of a reading: the next one looks at all of them.
  const whole = rows.length < limit ? rows : rows.filter(({ reading_id }) => reading_id !== last);
  return {
    lost: whole
      .filter(({ is_lost }) => is_lost)
      .map(({ reading_id: readingId, version }) => ({ readingId, version })),
    looked: whole.length,
    last: rows.length < limit ? null : (whole.at(-1)?.reading_id ?? last),
  };
};
