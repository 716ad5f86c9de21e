import { describe, expect, it } from '@jest/globals';
import type { ResolvedEvent } from '@eventstore/db-client';
import { METADATA } from '../testing/tally.js';
import { toStored } from './events.js';

const read = (changes: object) =>
  toStored({
    event: {
      id: 'e',
      streamId: 'tally-1',
      revision: 0n,
      type: 'Added',
      data: {},
      metadata: METADATA,
      created: new Date('2026-04-12T10:00:00.000Z'),
      isJson: true,
      ...changes,
    },
  } as unknown as ResolvedEvent)!;

describe('an event that another program wrote', () => {
  it.each([
    ['none', undefined],
    ['no JSON', new TextEncoder().encode('<xml/>')],
    ['a list', [1]],
    ['other members', { schemaVersion: '1', occurredAt: 'yesterday', actor: 7 }],
  ])('has all members of the metadata when it came with %s', (_, metadata) => {
    expect(read({ metadata }).metadata).toMatchObject({
      correlationId: '',
      causationId: '',
      workspaceId: '',
      actor: '',
      occurredAt: '2026-04-12T10:00:00.000Z',
      schemaVersion: 0,
    });
  });

  it('shows bytes as text', () => {
    expect(read({ data: new TextEncoder().encode('{"broken'), isJson: false }).data).toBe('{"broken');
  });

  it('is otherwise as it was written', () => {
    expect(read({}).metadata).toBe(METADATA);
  });
});
