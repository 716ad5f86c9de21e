import { expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { binaryEvent, connect, jsonEvent } from './support/client.js';
import { SET_ASIDE_STREAM } from '#event-sourcing/projections/set-aside.js';
import { projectPath } from '#platform/project-path.js';
import { startEmbeddedChild } from './support/child-store.js';

const metadata = {
  correlationId: 'req_1',
  causationId: 'req_1',
  workspaceId: 'ws_1',
  actor: 'operator:ada',
  occurredAt: '2026-04-04T09:30:00.000Z',
  schemaVersion: 1,
};
const erased = () => jsonEvent({ type: 'ReadingErased', data: { workspaceId: 'ws_1' }, metadata });

it('lists who was erased, and whom only an unreadable event, or one that is set aside, calls so', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'list-erased-'));
  const server = await startEmbeddedChild(join(folder, 'store'));
  const client = connect(server.connectionString);
  const [good, unreadable, setAside] = [randomUUID(), randomUUID(), randomUUID()];
  try {
    await client.appendToStream(`reading-${good}`, [erased(), erased()]);
    const bad = binaryEvent({ type: 'ReadingErased', data: Buffer.from('{"workspa'), metadata });
    await client.appendToStream(`reading-${unreadable}`, bad);
    await client.appendToStream(`reading-${setAside}`, erased());
    const data = {
      stream: `reading-${setAside}`,
      revision: '0',
      eventId: randomUUID(),
      eventType: 'ReadingErased',
      consumers: null,
      cause: 'bad',
      reason: 'INC-42',
    };
    await client.appendToStream(SET_ASIDE_STREAM, jsonEvent({ type: 'EventSetAside', data, metadata }));
    const listed = execFileSync(
      process.execPath,
      [projectPath('dist/apps/ops/src/backup/list-erased.js'), join(folder, 'store')],
      { encoding: 'utf8' },
    );
    expect(
      listed
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as object),
    ).toEqual([{ readingId: good, workspaceId: 'ws_1' }, { notErased: unreadable }, { notErased: setAside }]);
  } finally {
    await client.dispose();
    await server.end('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  }
});
