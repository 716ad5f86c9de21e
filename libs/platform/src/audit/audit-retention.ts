import type { Pool } from 'pg';
import type { Config } from '../config/settings.js';
import type { Retention } from '../retention/retention.js';
import { heldRows, inSteps } from '../retention/rows.js';
import { AuditRecords } from './audit-records.js';

const AT_ONCE = 5_000;

/** Audit records, with the notes of requests that have none. */
export const auditRetention = (
  pool: Pool,
  { AUDIT_RETENTION_DAYS: days }: Pick<Config, 'AUDIT_RETENTION_DAYS'>,
): Retention => {
  const records = new AuditRecords(pool);
  return {
    kind: 'audit',
    what: 'audit records: who requested what',
    setting: 'AUDIT_RETENTION_DAYS',
    days,
    graceDays: 0,
    held: (before) => heldRows(pool, { table: 'platform.audit_record', at: 'at' }, before),
    async forget(before, signal, onStep) {
      const removed = await inSteps(AT_ONCE, signal, () => records.forget(before, AT_ONCE), onStep);
      await records.forgetLosses(before);
      return { removed, keptSince: before };
    },
  };
};
