import { describe, expect, it } from '@jest/globals';
import { convertGrpcEvent } from '@eventstore/db-client/dist/utils/convertGrpcEvent.js';
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import fc from 'fast-check';
import { METADATA } from '../testing/tally.js';
import { readMetadata } from './metadata.js';
import { ProtobufFields } from './protobuf-fields.js';
import { decodeReadAnswer } from './read-answer.js';

const { ReadEvent } = streamsPb.ReadResp;

interface Recorded {
  readonly id: string;
  readonly stream: string;
  readonly revision: bigint;
  readonly commit: bigint;
  readonly system: Readonly<Record<string, string>>;
  readonly metadata: string;
  readonly data: string;
}

const recordedOf = (given: Recorded) => {
  const recorded = new ReadEvent.RecordedEvent();
  const id = new sharedPb.UUID();
  id.setString(given.id);
  recorded.setId(id);
  const stream = new sharedPb.StreamIdentifier();
  stream.setStreamName(Buffer.from(given.stream).toString('base64'));
  recorded.setStreamIdentifier(stream);
  recorded.setStreamRevision(given.revision.toString());
  recorded.setCommitPosition(given.commit.toString());
  recorded.setPreparePosition(given.commit.toString());
  for (const [key, value] of Object.entries(given.system)) recorded.getMetadataMap().set(key, value);
  recorded.setCustomMetadata(Buffer.from(given.metadata));
  recorded.setData(Buffer.from(given.data));
  return recorded;
};

const answerOf = (event: Recorded | null, link: Recorded | null): Buffer => {
  const read = new ReadEvent();
  if (event) read.setEvent(recordedOf(event));
  if (link) read.setLink(recordedOf(link));
  read.setCommitPosition((event ?? link)?.commit.toString() ?? '0');
  const answer = new streamsPb.ReadResp();
  answer.setEvent(read);
  return Buffer.from(answer.serializeBinary());
};

/** The event as the client decodes it, in our shape. */
const asTheClientReads = (message: Buffer) => {
  const { event } = convertGrpcEvent(streamsPb.ReadResp.deserializeBinary(message).getEvent()!);
  if (!event) return null;
  const recordedAt = event.created.getTime();
  return {
    id: event.id,
    stream: event.streamId,
    revision: event.revision,
    position: event.position?.commit ?? 0n,
    type: event.type,
    data: event.data instanceof Uint8Array ? new TextDecoder().decode(event.data) : event.data,
    metadata: readMetadata(event.metadata, recordedAt),
    recordedAt,
  };
};

const TICKS = 17_765_432_100_009_999n;
const EVENT: Recorded = {
  id: '6e1f0d1c-7b43-4a8e-9a38-0d3a3a7d5a10',
  stream: 'tally-1',
  revision: 3n,
  commit: 1_234n,
  system: { type: 'Added', 'content-type': 'application/json', created: TICKS.toString() },
  metadata: JSON.stringify(METADATA),
  data: '{"by":2}',
};

/** The client gives a byte-order mark back in one place and not in the other. */
const text = fc.string({ unit: 'binary' }).filter((value) => !value.startsWith('\uFEFF'));
const json = fc.jsonValue().map((value) => JSON.stringify(value));
const position = fc.oneof(fc.bigInt(0n, 300n), fc.bigInt(0n, 2n ** 64n - 1n));
const metadata = fc.oneof(
  fc.constant(JSON.stringify(METADATA)),
  fc.record({ ...memberShapes(), extra: fc.jsonValue() }, { requiredKeys: [] }).map((m) => JSON.stringify(m)),
  json,
  text,
);
const recorded: fc.Arbitrary<Recorded> = fc.record({
  id: fc.uuid(),
  stream: text.filter((name) => name !== ''),
  revision: position,
  commit: position,
  system: fc.record(
    {
      type: text,
      'content-type': fc.constantFrom('application/json', 'application/octet-stream', ''),
      created: fc.oneof(fc.bigInt(0n, 4n * TICKS).map(String), fc.constantFrom('', 'yesterday', '-1')),
      other: text,
    },
    { requiredKeys: [] },
  ),
  metadata,
  data: fc.oneof(json, text),
});

function memberShapes() {
  const member = fc.oneof(text, fc.integer());
  return {
    correlationId: member,
    causationId: member,
    workspaceId: member,
    actor: member,
    occurredAt: fc.oneof(member, fc.constant(METADATA.occurredAt)),
    schemaVersion: fc.oneof(member, fc.constant(1)),
  };
}

describe('an answer of a read', () => {
  it('says what the client reads in it, whatever the event holds', () => {
    fc.assert(
      fc.property(fc.option(recorded), fc.option(recorded), (event, link) => {
        const message = answerOf(event, link);
        expect(decodeReadAnswer(message)).toStrictEqual({ event: asTheClientReads(message) });
      }),
      { numRuns: 500 },
    );
  });

  it('is the event with the store’s own time in milliseconds', () => {
    expect(decodeReadAnswer(answerOf(EVENT, null)).event).toMatchObject({
      ...{ id: EVENT.id, stream: 'tally-1', revision: 3n, position: 1_234n, type: 'Added' },
      ...{ data: { by: 2 }, metadata: METADATA, recordedAt: 1_776_543_210_000 },
    });
  });

  it('is null for a link whose event is gone', () => {
    expect(decodeReadAnswer(answerOf(null, EVENT))).toEqual({ event: null });
  });

  it('shows a body that is no JSON as text', () => {
    const system = { ...EVENT.system, 'content-type': 'application/octet-stream' };
    expect(decodeReadAnswer(answerOf({ ...EVENT, system, data: '{"broken' }, null)).event?.data).toBe(
      '{"broken',
    );
  });

  it('is the commit position of a checkpoint, however large', () => {
    const answer = new streamsPb.ReadResp();
    const checkpoint = new streamsPb.ReadResp.Checkpoint();
    checkpoint.setCommitPosition('9223372036854775807');
    checkpoint.setPreparePosition('12');
    answer.setCheckpoint(checkpoint);
    expect(decodeReadAnswer(Buffer.from(answer.serializeBinary()))).toEqual({ checkpoint: 2n ** 63n - 1n });
  });

  it('has no event when the stream does not exist', () => {
    const answer = new streamsPb.ReadResp();
    answer.setStreamNotFound(new streamsPb.ReadResp.StreamNotFound());
    expect(decodeReadAnswer(Buffer.from(answer.serializeBinary()))).toEqual({});
  });

  it('passes over fields that a later server adds', () => {
    const later = Buffer.concat([
      Buffer.from([0xf8, 0x01, 0x96, 0x01, 0xfd, 0x01, 1, 2, 3, 4]),
      answerOf(EVENT, null),
    ]);
    expect(decodeReadAnswer(later)).toEqual(decodeReadAnswer(answerOf(EVENT, null)));
  });

  it('is refused wherever it is cut off, and never read as another event', () => {
    const whole = answerOf(EVENT, null);
    for (let length = 1; length < whole.length; length += 1)
      expect(() => decodeReadAnswer(whole.subarray(0, length))).toThrow('The message is cut off');
  });
});

describe('fields of a message', () => {
  it('refuse groups, which proto3 does not have', () => {
    expect(() => new ProtobufFields(Buffer.from([0x0b])).next()).toThrow('Wire type 3 is not known');
  });

  it('refuse a varint without an end', () => {
    expect(() => new ProtobufFields(Buffer.alloc(20, 0xff)).next()).toThrow('The message is cut off');
  });
});
