import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { TrustedClock } from '@app/event-sourcing/core/trusted-clock.js';
import type { Config } from '../config/settings.js';
import { repeatedWork } from '../work/repeated-work.js';
import type { WorkLoop } from '../work/work-registry.js';
import { AuditRecords } from './audit-records.js';

const EVERY_MS = 600_000;
const AT_ONCE = 5_000;
/** At most a million records per round, with pauses for other work between statements. */
const STATEMENTS = 200;
const PAUSE_MS = 50;
const DAY_MS = 86_400_000;

/** Deletes audit records older than AUDIT_RETENTION_DAYS. Any number of workers may run it at once. */
export const auditRetention = (
  pool: Pool,
  clock: TrustedClock,
  { AUDIT_RETENTION_DAYS: days }: Pick<Config, 'AUDIT_RETENTION_DAYS'>,
  log: Pick<Logger, 'warn'>,
): WorkLoop => {
  const records = new AuditRecords(pool);
  return repeatedWork(
    'audit.retention',
    EVERY_MS,
    async (signal) => {
      const before = (await clock.now()) - days * DAY_MS;
      for (let statement = 0; statement < STATEMENTS && !signal.aborted; statement += 1) {
        if ((await records.forget(before, AT_ONCE)) < AT_ONCE) break;
        await delay(PAUSE_MS, undefined, { signal }).catch(() => undefined);
      }
      await records.forgetLosses(before);
    },
    log,
  );
};
