import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { instant } from '#event-sourcing/core/clock.js';
import type { Config } from '../config/settings.js';
import type { Retention } from '../retention/retention.js';
import { forgetOlder, heldRows } from '../retention/rows.js';

/** One request, or several similar refusals within a minute. Only ids, no personal data. */
export interface AuditRecord {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** UUID: the request id without its `req_`. */
  readonly requestId: string;
  readonly requests: number;
  /** Of HTTP; `OPS` for a command of an operator, whose name is the route. */
  readonly method: string;
  /** The pattern of the route, never the path. */
  readonly route: string;
  /** HTTP status; 499 when the caller disconnected before the answer. */
  readonly status: number;
  readonly workspaceId: string | null;
  /** `apiKey:<keyId>`, `user:<subject>`, `bearer`, `link:<linkId>` or `operator:<name>`; `null` when no caller was authenticated. */
  readonly actor: string | null;
  readonly address: string | null;
  readonly readingId: string | null;
  /** Whether the answer contained personal data. */
  readonly personal: boolean;
}

/** Requests without a record. Times in milliseconds since the epoch. */
export interface AuditLoss {
  readonly since: number;
  readonly until: number;
  readonly requests: number;
}

export interface AuditFilter {
  readonly readingId?: string;
  /** As recorded: `apiKey:<keyId>` or `user:<subject>`. */
  readonly actor?: string;
  readonly workspaceId?: string;
  /** An address, or a network such as 203.0.113.0/24. */
  readonly address?: string;
  /** Milliseconds since the epoch; `since` inclusive, `until` exclusive. */
  readonly since?: number;
  readonly until?: number;
  /** Only refused requests. */
  readonly refused?: boolean;
  /** Only reads of personal data. */
  readonly personal?: boolean;
  /** Only records older than this one, the last of the previous page. */
  readonly before?: { readonly at: number; readonly requestId: string };
  readonly limit: number;
}

const COLUMNS =
  'at, request_id, requests, method, route, status, workspace_id, actor, address, reading_id, personal';
const LOWEST_REFUSAL = 400;

/** The table of audit records. */
export class AuditRecords {
  constructor(private readonly pool: Pick<Pool, 'query'>) {}

  /** Keeps existing records, so that a write with unknown outcome can be retried. */
  async add(records: readonly AuditRecord[]): Promise<void> {
    await this.pool.query({
      name: 'audit-add',
      text: `insert into platform.audit_record (${COLUMNS})
             select ${COLUMNS} from json_populate_recordset(null::platform.audit_record, $1::json)
             on conflict do nothing`,
      values: [JSON.stringify(records.map(toRow))],
    });
  }

  async addLoss({ since, until, requests }: AuditLoss): Promise<void> {
    await this.pool.query(
      'insert into platform.audit_loss (id, since, until, requests) values ($1, $2, $3, $4)',
      [randomUUID(), instant(since), instant(until), requests],
    );
  }

  /** Newest first. */
  async find(filter: AuditFilter): Promise<readonly AuditRecord[]> {
    const values: unknown[] = [];
    const given = (value: unknown): string => `$${values.push(value)}`;
    const { readingId, actor, workspaceId, address, since, until, before } = filter;
    const conditions = [
      readingId !== undefined && `reading_id = ${given(readingId)}::uuid`,
      actor !== undefined && `actor = ${given(actor)}`,
      workspaceId !== undefined && `workspace_id = ${given(workspaceId)}`,
      address !== undefined && `address <<= ${given(address)}::inet`,
      since !== undefined && `at >= ${given(instant(since))}`,
      until !== undefined && `at < ${given(instant(until))}`,
      before !== undefined &&
        `(at, request_id) < (${given(instant(before.at))}::timestamptz, ${given(before.requestId)}::uuid)`,
      filter.refused === true && `status >= ${LOWEST_REFUSAL}`,
      filter.personal === true && 'personal',
    ].filter((condition) => condition !== false);
    const { rows } = await this.pool.query<Omit<AuditRecord, 'at'> & { readonly at: Date }>(
      `select at, request_id as "requestId", requests, method, route, status, workspace_id as "workspaceId", actor,
              address, reading_id as "readingId", personal
       from platform.audit_record
       where ${conditions.length === 0 ? 'true' : conditions.join(' and ')}
       order by at desc, request_id desc limit ${given(filter.limit)}`,
      values,
    );
    return rows.map((row) => ({ ...row, at: row.at.getTime() }));
  }

  /** Requests without a record in a period; a `null` bound leaves it open. */
  async losses({ since, until }: Pick<AuditFilter, 'since' | 'until'>): Promise<readonly AuditLoss[]> {
    const { rows } = await this.pool.query<{ since: Date; until: Date; requests: number }>(
      `select since, until, requests from platform.audit_loss
       where ($1::timestamptz is null or until >= $1) and ($2::timestamptz is null or since < $2)
       order by since limit 1000`,
      [since === undefined ? null : instant(since), until === undefined ? null : instant(until)],
    );
    return rows.map((row) => ({ ...row, since: row.since.getTime(), until: row.until.getTime() }));
  }
}

const toRow = ({ at, requestId, workspaceId, readingId, ...record }: AuditRecord) => ({
  ...record,
  at: instant(at),
  request_id: requestId,
  workspace_id: workspaceId,
  reading_id: readingId,
});

/** Audit records, with the notes of requests that have none. */
export const auditRetention = (
  pool: Pool,
  { AUDIT_RETENTION_DAYS: days }: Pick<Config, 'AUDIT_RETENTION_DAYS'>,
): Retention => {
  const records = { table: 'platform.audit_record', at: 'at' };
  return {
    kind: 'audit',
    what: 'audit records: who requested what',
    setting: 'AUDIT_RETENTION_DAYS',
    days,
    graceDays: 0,
    held: (before) => heldRows(pool, records, before),
    async forget(before, signal) {
      const removed = await forgetOlder(pool, records, before, signal);
      await pool.query('delete from platform.audit_loss where until < $1', [instant(before)]);
      return { removed, keptSince: before };
    },
  };
};
