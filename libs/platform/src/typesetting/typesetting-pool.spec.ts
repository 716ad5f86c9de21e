import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { typesettingPool } from './typesetting-pool.js';

let folder: string;
let worker: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'typesetting-'));
  worker = join(folder, 'planted.mjs');
  await writeFile(worker, 'export default (hangs) => { while (hangs); return new Uint8Array([1]); };');
});
afterAll(() => rm(folder, { recursive: true }));

it('a thread that never ends is ended, and the task that waited for it is typeset or may try again', async () => {
  const pool = typesettingPool<boolean>({ worker, threads: 1, maxQueue: 1, timeoutMs: 2_000 });
  const begun: string[] = [];
  const begin = (name: string) => async () => void begun.push(name);
  const outcome = (answer: Promise<Uint8Array>) =>
    answer.then(String, (error: unknown) => (error as Error).name);
  const hanging = outcome(pool.run(true, begin('hanging')));
  const waiting = outcome(pool.run(false, begin('waiting')));
  expect(await outcome(pool.run(false, begin('third')))).toBe('TypesettingBusy');
  expect(begun).toEqual(['hanging']);
  expect(await hanging).toBe('TypesettingHung');
  expect(['1', 'TypesettingBusy']).toContain(await waiting);
  expect(String(await pool.run(false, begin('next')))).toBe('1');
  await pool.close();
});
