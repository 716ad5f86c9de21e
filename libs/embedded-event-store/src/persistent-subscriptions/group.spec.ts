import { expect, it, jest } from '@jest/globals';
import type { Consumer } from './consumer.js';
import { Group, type GroupParts } from './group.js';
import type { GroupRecord } from './settings.js';

it('A consumer that joins a group while it closes is dropped, as those before it', async () => {
  const error = new Error('dropped');
  const settings = { checkpointAfterMs: 0, minCheckpointCount: 1, maxCheckpointCount: 1 };
  const record = { source: 'a', group: 'g', settings, startAt: 0n, checkpoint: undefined };
  const parts = { save: () => Promise.resolve(), report: () => undefined, dropped: () => error };
  const group = new Group(record as unknown as GroupRecord, parts as unknown as GroupParts);
  const drop = jest.fn();
  const closed = group.close();
  group.connect({ id: 'late', drop, inFlight: new Map() } as unknown as Consumer);
  await closed;
  expect(drop.mock.calls).toEqual([[error]]);
  expect(group.connected).toEqual([]);
});
