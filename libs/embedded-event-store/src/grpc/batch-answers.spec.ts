import { describe, expect, it } from '@jest/globals';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import { batchFailed, batchSuccess, timeoutFailure, type BatchIdentity } from './batch-answers.js';

const ID = '0f8fad5b-d9cb-469f-a165-70867728950e';
const to = (expected: BatchIdentity['expected'], stream = 'tally-é'): BatchIdentity => ({
  correlationId: ID,
  stream,
  expected,
});

/** By the code that is generated from the protocol. */
const read = (answer: Buffer) => {
  const message = streamsPb.BatchAppendResp.deserializeBinary(answer);
  return {
    id: message.getCorrelationId()?.getString(),
    stream: Buffer.from(message.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString(),
    expected: [
      message.getStreamPosition(),
      message.hasNoStream(),
      message.hasAny(),
      message.hasStreamExists(),
    ],
    success: message.getSuccess()?.toObject(),
    error: message.getError(),
    bytes: Buffer.from(message.serializeBinary()),
  };
};

describe('the encoded answer to an append', () => {
  it.each([
    ['any', ['0', false, true, false]],
    ['no_stream', ['0', true, false, false]],
    ['stream_exists', ['0', false, false, true]],
    [0n, ['0', false, false, false]],
    [2n ** 62n, [String(2n ** 62n), false, false, false]],
  ] as const)('repeats the expected revision %s', (expected, told) => {
    const answer = batchSuccess(to(expected), 300n, 2n ** 60n);
    expect(read(answer)).toMatchObject({ id: ID, stream: 'tally-é', expected: told, error: undefined });
    expect(read(answer).bytes).toEqual(answer);
  });

  it('tells revision and position, or that there is none', () => {
    const position = { commitPosition: '64', preparePosition: '64' };
    expect(read(batchSuccess(to('any'), 0n, 64n)).success).toMatchObject({ currentRevision: '0', position });
    const none = read(batchSuccess(to('any', 'x'.repeat(1_000)), -1n, undefined)).success;
    expect(none).toMatchObject({ noStream: {}, noPosition: {} });
  });

  it('tells a failure with its details', () => {
    const { error, bytes } = read(batchFailed(to(5n), timeoutFailure()));
    expect([error?.getCode(), error?.getDetails()?.getTypeName()]).toEqual([4, 'event_store.client.Timeout']);
    expect(bytes).toEqual(batchFailed(to(5n), timeoutFailure()));
  });
});
