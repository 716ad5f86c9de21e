import { afterAll, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launch } from './launched.js';
import { LogFile } from './log-file.js';
import { ProcessRecord } from './process-record.js';

const folder = mkdtempSync(join(tmpdir(), 'launched-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it.each([
  ['SIGSEGV', 'killed by SIGSEGV: its file is damaged'],
  ['SIGKILL', 'killed by SIGKILL'],
])('a child that ends with %s is described as: %s', async (signal, described) => {
  const { exited } = launch<void>(
    {
      name: 'child',
      command: '/bin/sh',
      args: ['-c', `kill -s ${signal.slice(3)} $$`],
      environment: {},
      log: new LogFile(folder, 'child'),
      record: new ProcessRecord(join(folder, 'processes.json')),
      crashHint: 'its file is damaged',
    },
    () => new Promise(() => undefined),
  );
  expect(await exited).toBe(described);
});
