import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import pg from 'pg';
import { Registry } from 'prom-client';
import { parse } from 'yaml';
import { freshDatabase } from '../../../../test/support/fresh-database.js';
import type { StartedPostgres } from '../../../../test/support/start-postgres.js';
import { projectPath } from '../project-path.js';
import { measureRetention } from './retention-metrics.js';
import { DAY_MS, refuseAfterPause, recordRound } from './retention.js';

const NOW = Date.now();
let database: StartedPostgres;
let pool: pg.Pool;
beforeAll(async () => {
  database = await freshDatabase();
  pool = new pg.Pool({ connectionString: database.databaseUrl, max: 2 });
});
afterAll(async () => {
  await pool.end();
  await database.stop();
});

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[];
  }[];
}

it('Workers that delete nothing after a pause show in a metric that has an alert', async () => {
  // As after restoring a backup that is eight days old.
  await recordRound(pool, 'audit', NOW - 8 * DAY_MS, { removed: 0, keptSince: 0 });
  await recordRound(pool, 'events', NOW - 9 * DAY_MS, { removed: 0, keptSince: 0 });
  await expect(refuseAfterPause(pool, NOW)).rejects.toThrow('nothing is deleted until ops retention run');
  const registry = new Registry();
  measureRetention(pool, registry);
  const text = await registry.metrics();
  const at = (kind: string): number =>
    Number(new RegExp(`^retention_round_timestamp_seconds\\{kind="${kind}"\\} (.+)$`, 'm').exec(text)?.[1]);
  expect(Math.round((NOW / 1_000 - at('audit')) / 86_400)).toBe(8);
  expect(Math.round((NOW / 1_000 - at('events')) / 86_400)).toBe(9);
  const { groups } = parse(readFileSync(projectPath('docs/alerts.yml'), 'utf8')) as Rules;
  const alert = groups.flatMap(({ rules }) => rules).find((rule) => rule.alert === 'RetentionStopped');
  const [, seconds] =
    /^time\(\) - max by \(kind\) \(retention_round_timestamp_seconds\) > (\d+) /.exec(alert?.expr ?? '') ??
    [];
  expect(Number(seconds) * 1_000).toBe(2 * DAY_MS);
});
