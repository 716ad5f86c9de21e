import { expect, it } from '@jest/globals';
import type pg from 'pg';
import { systemClock } from '#event-sourcing/core/clock.js';
import type { WorkLoop } from '#platform/work/work-registry.js';
import { rescueReplays } from '../../application/replay.js';
import { skipNoted } from '../skip-pending.js';

const fails = (): Promise<never> => Promise.reject(new Error('Query read timeout'));
const pool = { connect: fails, query: fails } as unknown as pg.Pool;

/** What the loop logs in its first round. */
const loggedBy = async (make: (log: { warn: (line: object) => void }) => WorkLoop): Promise<object[]> => {
  const lines: object[] = [];
  const stopping = new AbortController();
  const log = {
    warn: (line: object) => {
      lines.push(line);
      stopping.abort();
    },
  };
  const running = make(log).run(stopping.signal);
  setTimeout(() => stopping.abort(), 2_000).unref();
  await running;
  return lines;
};

it('A batch that cannot be skipped is logged: until then, the endpoint is sent nothing', async () => {
  expect(await loggedBy((log) => skipNoted(pool, log))).toEqual([
    { loop: 'webhooks.skipping', reason: 'Query read timeout', times: 1 },
  ]);
});

it('Replays that cannot be rescued are logged', async () => {
  expect(await loggedBy((log) => rescueReplays(pool, systemClock, log))).toEqual([
    { loop: 'webhooks.replay.rescue', reason: 'Query read timeout', times: 1 },
  ]);
});
