import { describe, expect, it } from '@jest/globals';
import {
  decideAppend,
  decideDelete,
  decideTombstone,
  type ExpectedRevision,
  type StreamFacts,
} from './append-decision.js';
import { DELETED_STREAM, type StreamHead } from './stream-head.js';

/** A stream whose events have the given ids, in order. */
const streamOf = (ids: readonly string[], change: Partial<StreamHead> = {}): StreamFacts => {
  const placed = ids.map((id, n) => ({ id, revision: BigInt(n), position: BigInt(100 + n) }));
  return {
    head: { name: 's', number: 0, last: BigInt(ids.length - 1), tombstoned: false, retention: {}, ...change },
    closed: change.tombstoned === true,
    hasMetadata: false,
    recent: (id) => placed.find((event) => event.id === id),
    at: (revision) => placed[Number(revision)],
  };
};

const missing: StreamFacts = { ...streamOf([]), head: undefined };
const softDeleted = streamOf(['a', 'b'], { retention: { truncateBefore: DELETED_STREAM } });

describe('decideAppend', () => {
  const outcomes: [string, StreamFacts, ExpectedRevision, string[], string][] = [
    ['a missing stream', missing, 'no_stream', ['x'], 'accept'],
    ['a missing stream', missing, 'any', ['x'], 'accept'],
    ['a missing stream', missing, 'stream_exists', ['x'], 'conflict'],
    ['a missing stream', missing, 0n, ['x'], 'conflict'],
    ['a stream at 1', streamOf(['a', 'b']), 1n, ['x'], 'accept'],
    ['a stream at 1', streamOf(['a', 'b']), 2n, ['x'], 'conflict'],
    ['a stream at 1', streamOf(['a', 'b']), 0n, ['x'], 'conflict'],
    ['a stream at 1', streamOf(['a', 'b']), 0n, ['b'], 'repeated'],
    ['a stream at 1', streamOf(['a', 'b']), 'no_stream', ['a', 'b'], 'repeated'],
    ['a stream at 1', streamOf(['a', 'b']), 'no_stream', ['a'], 'repeated'],
    ['a stream at 1', streamOf(['a', 'b']), 'no_stream', ['a', 'x'], 'conflict'],
    ['a stream at 1', streamOf(['a', 'b']), 'no_stream', ['a', 'b', 'c'], 'conflict'],
    ['a stream at 1', streamOf(['a', 'b']), 'no_stream', [], 'conflict'],
    ['a stream at 1', streamOf(['a', 'b']), 'any', ['a', 'b'], 'repeated'],
    ['a stream at 1', streamOf(['a', 'b']), 'any', ['b', 'c'], 'conflict'],
    ['a stream at 1', streamOf(['a', 'b']), 'stream_exists', ['c'], 'accept'],
    ['a soft-deleted stream', softDeleted, 'no_stream', ['x'], 'accept'],
    ['a soft-deleted stream', softDeleted, 'no_stream', ['a', 'b'], 'repeated'],
    ['a soft-deleted stream', softDeleted, 'stream_exists', ['x'], 'deleted'],
    ['a soft-deleted stream', softDeleted, 0n, ['x'], 'conflict'],
    ['a tombstoned stream', streamOf(['a'], { tombstoned: true }), 'any', ['x'], 'deleted'],
    ['a tombstoned stream', streamOf(['a'], { tombstoned: true }), 'no_stream', ['a'], 'deleted'],
    ['a stream with metadata only', { ...missing, hasMetadata: true }, 'stream_exists', ['x'], 'accept'],
  ];

  it.each(outcomes)('answers %s (%#), expected %s', (_name, facts, expected, ids, kind) => {
    expect(decideAppend(facts, expected, ids).kind).toBe(kind);
  });

  it('reports whether an accepted append revives a deleted stream', () => {
    expect(decideAppend(softDeleted, 1n, ['x'])).toEqual({ kind: 'accept', revives: true });
    expect(decideAppend(streamOf(['a']), 0n, ['x'])).toEqual({ kind: 'accept', revives: false });
  });

  it('answers a repeated append with the place of its last event', () => {
    const decision = decideAppend(streamOf(['a', 'b', 'c']), 'no_stream', ['a', 'b']);
    expect(decision).toMatchObject({ kind: 'repeated', last: { revision: 1n, position: 101n } });
  });
});

const removals: [string, StreamFacts, ExpectedRevision, string, string][] = [
  ['a stream', streamOf(['a']), 0n, 'accept', 'accept'],
  ['a stream', streamOf(['a']), 1n, 'conflict', 'conflict'],
  ['a stream', streamOf(['a']), 'any', 'accept', 'accept'],
  ['a stream', streamOf(['a']), 'no_stream', 'conflict', 'conflict'],
  ['a stream', streamOf(['a']), 'stream_exists', 'accept', 'accept'],
  ['a missing stream', missing, 'any', 'conflict', 'accept'],
  ['a missing stream', missing, 'no_stream', 'conflict', 'accept'],
  ['a missing stream', missing, 'stream_exists', 'conflict', 'conflict'],
  ['a missing stream', missing, 0n, 'conflict', 'conflict'],
  ['a stream with metadata only', { ...missing, hasMetadata: true }, 'no_stream', 'accept', 'accept'],
  ['a stream with metadata only', { ...missing, hasMetadata: true }, 'stream_exists', 'accept', 'accept'],
  ['a soft-deleted stream', softDeleted, 'any', 'accept', 'accept'],
  ['a soft-deleted stream', softDeleted, 'no_stream', 'accept', 'accept'],
  ['a soft-deleted stream', softDeleted, 'stream_exists', 'deleted', 'deleted'],
  ['a soft-deleted stream', softDeleted, 1n, 'accept', 'accept'],
  ['a tombstoned stream', streamOf(['a'], { tombstoned: true }), 'any', 'deleted', 'deleted'],
];

describe('decideDelete and decideTombstone', () => {
  it.each(removals)('answer %s (%#), expected %s', (_name, facts, expected, deleted, tombstoned) => {
    expect(decideDelete(facts, expected)).toBe(deleted);
    expect(decideTombstone(facts, expected)).toBe(tombstoned);
  });
});
