import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { listenOnce } from './listen-once.js';
import { otherEventStore } from './event-store-process.js';

const folder = mkdtempSync(join(tmpdir(), "other store's "));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Answers as a node does that becomes the leader at its third answer, and notes how it ends. */
const NODE = `
  const { createServer } = require('node:http');
  const { writeFileSync } = require('node:fs');
  const [, , port, data] = process.argv;
  let answers = 0;
  createServer((_, response) => {
    const state = ++answers < 3 ? 'Unknown' : 'Leader';
    response.end(JSON.stringify({ members: [{ state, isAlive: true }] }));
  }).listen(Number(port), '127.0.0.1');
  process.on('SIGTERM', () => {
    writeFileSync(data + '/ended', String(answers));
    process.exit(0);
  });
`;

it('Another event store gets its port and folder, leads when it says so, and ends with its owner', async () => {
  const program = join(folder, 'node.cjs');
  writeFileSync(program, NODE);
  const port = await listenOnce(0, '127.0.0.1');
  const { command, args, url, leads } = otherEventStore(
    `"${process.execPath}" "${program}" {port} {data}`,
    port,
    folder,
  );
  expect(url).toBe(`esdb://127.0.0.1:${port}?tls=false`);
  const child = spawn(command, args, { stdio: ['pipe', 'ignore', 'inherit'] });
  const exited = once(child, 'exit');
  await leads();
  child.stdin.end();
  expect(await exited).toEqual([0, null]);
  expect(Number(readFileSync(join(folder, 'ended'), 'utf8'))).toBeGreaterThanOrEqual(3);
});
