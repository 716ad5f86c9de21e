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
 * plan of its own filters.
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
    ...(status === null ? [] : [`status = ${given(status)}`]),
    ...(createdSince === null ? [] : [`created_at >= ${given(createdSince)}::timestamptz`]),
    ...(createdUntil === null ? [] : [`created_at < ${given(createdUntil)}::timestamptz`]),
    ...(after === null
      ? []
      : [`(created_at, reading_id) < (${given(after[0])}::timestamptz, ${given(after[1])}::uuid)`]),
    ...(lookup === null ? [] : [`reading_id in (${subjectsWith(given(lookup))})`]),
  ];
  const page = `order by created_at desc, reading_id desc limit ${given(limit)}`;
  const select = `select ${columns} from readings.reading where ${conditions.join(' and ')}`;
  const of = (mode: boolean): string => `${select} and ${mode ? 'livemode' : 'not livemode'}`;
  // An external id has few readings. Materialized, so that no plan walks the list of the workspace to find them.
  if (lookup !== null)
    return {
      text: `with found as materialized (${livemode === null ? select : of(livemode)}) select * from found ${page}`,
      values,
    };
  // An index has the readings of one mode in this order.
  const text =
    livemode === null
      ? `select * from ((${of(true)} ${page}) union all (${of(false)} ${page})) both_modes ${page}`
      : `${of(livemode)} ${page}`;
  return { text, values };
};

const subjectsWith = (lookup: string): string =>
  `select subject_id from platform.subject_key where lookups @> array[${lookup}::bytea]`;
