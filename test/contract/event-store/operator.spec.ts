import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type EventStoreDBClient } from './support/client.js';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { runProgram, startEmbeddedChild, type ChildStore } from './support/child-store.js';
import { numbered } from './support/events.js';
import { IS_EMBEDDED } from './support/store-under-test.js';

interface Ended {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

const run = async (...args: string[]): Promise<Ended> => {
  const { child } = runProgram(args);
  let out = '';
  let err = '';
  child.stdout?.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const [status] = (await once(child, 'close')) as [number];
  return { status, out, err };
};

(IS_EMBEDDED ? describe : describe.skip)('the operator’s commands beside a running server', () => {
  let folder: string;
  let dataDir: string;
  let server: ChildStore;
  let client: EventStoreDBClient;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'event-store-commands-'));
    dataDir = join(folder, 'store');
    server = await startEmbeddedChild(dataDir);
    client = connect(server.connectionString);
    await client.appendToStream('a', numbered(100));
  });

  afterEach(async () => {
    await client.dispose();
    await server.end('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  });

  it('verify sees a consistent durable state during appends', async () => {
    let writing = true;
    const writer = (async () => {
      while (writing) await client.appendToStream('b', numbered(20));
    })();
    const { status, out, err } = await run('verify', '--data', dataDir, '--json');
    writing = false;
    await writer;
    expect({ status, err, ...JSON.parse(out) }).toMatchObject({
      status: 0,
      err: '',
      findings: 0,
      listed: [],
    });
  });

  it('report what is missing', async () => {
    expect((await run('verify', '--data', join(folder, 'nothing'))).err).toMatch(
      /data file .* does not exist/,
    );
    expect((await run('verify', '--help')).out).toContain('Examples:');
  });
});
