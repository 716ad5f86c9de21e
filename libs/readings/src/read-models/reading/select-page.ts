import type { QueryConfig } from 'pg';
import type { ReadingStatus } from '../../contracts/queries.js';

/** Which readings of a workspace a list shows; `null`: all. Instants are canonical. */
export interface ListFilters {
  readonly status: ReadingStatus | null;
  readonly externalId: string | null;
  readonly createdSince: string | null;
  /** The first instant after those that are shown. */
  readonly createdUntil: string | null;
}

/**
 * SQL: readings of a workspace, newest first. A filter that is not given is not in the text, so that each list has the
 * plan of its own filters; a plan can use the index of test readings.
 * @param livemode `null`: of both modes
 * @param lookup keyed digest of the external id
 * @param after `createdAt` and `readingId` of the last reading before the page
 */
export const selectPage = (
  columns: string,
  workspaceId: string,
  livemode: boolean | null,
  { status, createdSince, createdUntil }: ListFilters,
  lookup: Buffer | null,
  limit: number,
  after: readonly string[] | null,
): QueryConfig => {
  const values: unknown[] = [];
  const given = (value: unknown): string => `$${values.push(value)}`;
  const conditions = [
    `workspace_id = ${given(workspaceId)}`,
    ...(livemode === null ? [] : [livemode ? 'livemode' : 'not livemode']),
    ...(status === null ? [] : [`status = ${given(status)}`]),
    ...(createdSince === null ? [] : [`created_at >= ${given(createdSince)}::timestamptz`]),
    ...(createdUntil === null ? [] : [`created_at < ${given(createdUntil)}::timestamptz`]),
    ...(after === null
      ? []
      : [`(created_at, reading_id) < (${given(after[0])}::timestamptz, ${given(after[1])}::uuid)`]),
    ...(lookup === null ? [] : [`reading_id in (${subjectsWith(given(lookup))})`]),
  ];
  const found = `select ${columns} from readings.reading where ${conditions.join(' and ')}`;
  const page = `order by created_at desc, reading_id desc limit ${given(limit)}`;
  // An external id has few readings. Materialized, so that no plan walks the list of the workspace to find them.
  const text =
    lookup === null
      ? `${found} ${page}`
      : `with found as materialized (${found}) select * from found ${page}`;
  return { text, values };
};

const subjectsWith = (lookup: string): string =>
  `select subject_id from platform.subject_key where lookups @> array[${lookup}::bytea]`;
