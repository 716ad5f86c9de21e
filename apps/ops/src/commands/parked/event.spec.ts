import { describe, expect, it } from '@jest/globals';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { problemOf } from './event.js';

const stored = (stream: string): StoredEvent => ({
  id: 'a',
  type: 'OrderLineClaimed',
  data: { wrong: [true] },
  metadata: { schemaVersion: 1, workspaceId: 'w' } as never,
  stream,
  revision: 0n,
  position: 0n,
});

describe('a malformed event of an order line', () => {
  it('has a problem that operators may decide about', () => {
    expect(problemOf(stored('orderline-abc'), '')).toMatch(/\w/);
    expect(() => problemOf(stored('unheard-abc'), '')).toThrow('The service does not read unheard-abc.');
  });
});
