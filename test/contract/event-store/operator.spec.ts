import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type EventStoreDBClient } from './support/client.js';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { runProgram, startEmbeddedChild, type ChildStore } from './support/child-store.js';
import { collect, numbered } from './support/events.js';
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

  it('info reports who serves the folder and what is durable', async () => {
    const { status, out } = await run('info', '--data', dataDir, '--json');
    expect(status).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      format: 1,
      // With the metadata of `$scavenges`, with which every store begins.
      events: 101,
      streams: 3,
      servedBy: server.process.pid,
    });
  });

  it('verify and backup see a consistent durable state during appends', async () => {
    let writing = true;
    let acknowledged = 0;
    const writer = (async () => {
      while (writing) {
        await client.appendToStream('b', numbered(20));
        acknowledged += 20;
      }
    })();
    const verified = await run('verify', '--data', dataDir, '--json');
    const before = acknowledged;
    const copy = join(folder, 'copy');
    const backedUp = await run('backup', '--data', dataDir, '--to', copy, '--json');
    writing = false;
    await writer;
    expect(verified.err).toMatch(/^(verify: \d+ of \d+\n)*$/);
    expect({ status: verified.status, ...JSON.parse(verified.out) }).toMatchObject({
      status: 0,
      findings: 0,
    });
    // A long log shows its progress.
    expect(backedUp.err).toMatch(/^(backup: \d+ of \d+\n)*$/);
    const { events, ...found } = JSON.parse(backedUp.out) as { events: number };
    expect({ status: backedUp.status, ...found }).toMatchObject({ status: 0, findings: 0, listed: [] });
    expect(events).toBeGreaterThanOrEqual(100 + before);

    const restored = await startEmbeddedChild(copy);
    const other = connect(restored.connectionString);
    expect(await collect(other.readAll())).toHaveLength(events);
    await other.dispose();
    expect(await restored.end('SIGTERM')).toBe(0);
  });

  it('report what is missing', async () => {
    expect(await run('backup', '--data', dataDir)).toMatchObject({ status: 1 });
    expect((await run('verify', '--data', join(folder, 'nothing'))).err).toMatch(
      /data file .* does not exist/,
    );
    expect((await run('verify', '--help')).out).toContain('Examples:');
  });
});
