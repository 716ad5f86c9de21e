import { describe, expect, it } from '@jest/globals';
import { METADATA } from '../testing/tally.js';
import { readMetadata } from './metadata.js';

const RECORDED_AT = Date.parse('2026-04-12T10:00:00.000Z');

describe('the metadata of an event', () => {
  it.each([
    ['none', undefined],
    ['no JSON', new TextEncoder().encode('<xml/>')],
    ['a list', [1]],
    ['other members', { schemaVersion: '1', occurredAt: 'yesterday', actor: 7 }],
  ])('has all members when another program wrote %s', (_, metadata) => {
    expect(readMetadata(metadata, RECORDED_AT)).toMatchObject({
      correlationId: '',
      causationId: '',
      workspaceId: '',
      actor: '',
      occurredAt: '2026-04-12T10:00:00.000Z',
      schemaVersion: 0,
    });
  });

  it.each(['Sun, 12 Apr 2026 09:00:00 GMT', '2026-04-12T09:00:00Z', '+012026-04-12T09:00:00.000Z'])(
    'is not ours with a date that does not sort as text: %s',
    (occurredAt) => {
      const repaired = { ...METADATA, occurredAt: '2026-04-12T10:00:00.000Z', schemaVersion: 0 };
      expect(readMetadata({ ...METADATA, occurredAt }, RECORDED_AT)).toEqual(repaired);
    },
  );

  it('is otherwise as it was written', () => {
    expect(readMetadata(METADATA, RECORDED_AT)).toBe(METADATA);
  });
});
