import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { GroupCommit } from '#embedded-event-store/log/group-commit.js';
import { LogStore } from '#embedded-event-store/log/log-store.js';
import { serveSnapshots } from '#embedded-event-store/log/look-at.js';
import { verifyFolder } from '#embedded-event-store/operator/verify.js';
import { StreamWriter } from '#embedded-event-store/streams/stream-writer.js';
import { projectPath } from '#platform/project-path.js';
import { rounds } from '../support/rounds.js';

const SECONDS = rounds(3, 60);
/** A slow machine takes longer for these. */
const LEAST_LOOKS = 50;

describe('operator commands beside a store that is being written', () => {
  let folder: string;
  let store: LogStore;
  let endSnapshots: () => Promise<void>;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'event-store-looks-'));
    // Commits follow each other closely, so that many fall into the time that opening the file takes.
    store = await LogStore.open(folder, { noSync: true });
    endSnapshots = await serveSnapshots(folder, store);
  });

  afterEach(async () => {
    await endSnapshots();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('lose no acknowledged append', async () => {
    let failure: unknown;
    const commits: GroupCommit = new GroupCommit(
      store,
      { onCommitted: () => undefined, onFailure: (error) => (failure = error) },
      () => writer.streamCount,
    );
    const writer = new StreamWriter(store, commits, { now: Date.now });
    const program = projectPath('dist/test/crash/support/looking-process.js');
    const looking = fork(program, [folder, String(SECONDS), String(LEAST_LOOKS)], { execArgv: [] });
    let looks = 0;
    looking.once('message', (count: number) => (looks = count));
    let hasEnded = false;
    looking.once('exit', () => (hasEnded = true));
    let acknowledged = 0;
    const event = {
      type: 'Noted',
      contentType: 'application/json',
      data: Buffer.from('{}'),
      metadata: Buffer.alloc(0),
    };
    try {
      for (; !hasEnded && failure === undefined; acknowledged++)
        await writer.append('a', 'any', [{ ...event, id: randomUUID() }]);
      expect(failure).toBeUndefined();
      expect(looks).toBeGreaterThanOrEqual(LEAST_LOOKS);
      const { events, listed } = await verifyFolder(folder);
      expect({ events, listed, failure }).toEqual({ events: acknowledged, listed: [], failure: undefined });
    } finally {
      looking.kill();
    }
  });
});
