import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { GroupCommit } from '@app/embedded-event-store/log/group-commit.js';
import { LogStore } from '@app/embedded-event-store/log/log-store.js';
import { serveSnapshots } from '@app/embedded-event-store/log/serve-snapshots.js';
import { SILENT } from '@app/embedded-event-store/operator/progress.js';
import { verifyFolder } from '@app/embedded-event-store/operator/verify.js';
import { StreamWriter } from '@app/embedded-event-store/streams/stream-writer.js';
import { projectPath } from '@app/platform/project-path.js';

/** `LOOK_SECONDS=60` for the long run. */
const SECONDS = Number(process.env['LOOK_SECONDS'] ?? '3');

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
    const writer = new StreamWriter(store, commits, { now: Date.now, systemLinks: false });
    const looking = fork(projectPath('dist/test/crash/support/looking-process.js'), [folder], {
      execArgv: [],
    });
    let acknowledged = 0;
    const end = Date.now() + SECONDS * 1_000;
    const event = {
      type: 'Noted',
      contentType: 'application/json',
      data: Buffer.from('{}'),
      metadata: Buffer.alloc(0),
    };
    try {
      for (; Date.now() < end && failure === undefined; acknowledged++)
        await writer.append('a', 'any', [{ ...event, id: randomUUID() }]);
      const looks = once(looking, 'message') as Promise<[number]>;
      looking.send('stop');
      expect((await looks)[0]).toBeGreaterThan(50);
      const { events, listed } = await verifyFolder(folder, SILENT);
      expect({ events, listed, failure }).toEqual({ events: acknowledged, listed: [], failure: undefined });
    } finally {
      looking.kill();
    }
  });
});
