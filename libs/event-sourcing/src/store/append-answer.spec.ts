import { describe, expect, it } from '@jest/globals';
import anyPb from 'google-protobuf/google/protobuf/any_pb.js';
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import statusPb from '@eventstore/db-client/generated/status_pb.js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import { decodeAppendAnswer } from './append-answer.js';

const ID = '0f8fad5b-d9cb-469f-a165-70867728950e';

const answer = (change: (response: streamsPb.BatchAppendResp) => void): Buffer => {
  const response = new streamsPb.BatchAppendResp();
  const id = new sharedPb.UUID();
  id.setString(ID);
  response.setCorrelationId(id);
  const identifier = new sharedPb.StreamIdentifier();
  identifier.setStreamName(Buffer.from('tally-1'));
  response.setStreamIdentifier(identifier);
  response.setAny(new sharedPb.Empty());
  change(response);
  return Buffer.from(response.serializeBinary());
};

const written = (revision: string, commit?: string): Buffer =>
  answer((response) => {
    const success = new streamsPb.BatchAppendResp.Success();
    success.setCurrentRevision(revision);
    if (commit === undefined) success.setNoPosition(new sharedPb.Empty());
    else {
      const position = new sharedPb.AllStreamPosition();
      position.setCommitPosition(commit);
      position.setPreparePosition('7');
      success.setPosition(position);
    }
    response.setSuccess(success);
  });

const refused = (reason: string, details: Uint8Array): Buffer =>
  answer((response) => {
    const any = new anyPb.Any();
    any.pack(details, `event_store.client.${reason}`);
    const status = new statusPb.Status();
    status.setCode(6);
    status.setMessage('said');
    status.setDetails(any);
    response.setError(status);
  });

const conflict = (change: (details: sharedPb.WrongExpectedVersion) => void): Buffer => {
  const details = new sharedPb.WrongExpectedVersion();
  change(details);
  details.setExpectedStreamPosition('9');
  return refused('WrongExpectedVersion', details.serializeBinary());
};

describe('an answer to an append', () => {
  it('tells revision and position', () => {
    const [revision, position] = [2n ** 63n - 1n, 2n ** 60n];
    expect(decodeAppendAnswer(written(String(revision), String(position)))).toEqual({
      correlationId: ID,
      outcome: { kind: 'written', revision, position },
    });
    expect(decodeAppendAnswer(written('3')).outcome).toEqual({ kind: 'written', revision: 3n, position: 0n });
  });

  it('tells what stands at another revision than expected', () => {
    const outcome = { kind: 'refused', reason: 'WrongExpectedVersion', message: 'said' };
    expect(decodeAppendAnswer(conflict((details) => details.setCurrentStreamRevision('0'))).outcome).toEqual({
      ...outcome,
      actual: 0n,
    });
    const noStream = conflict((details) => details.setCurrentNoStream(new sharedPb.Empty()));
    expect(decodeAppendAnswer(noStream).outcome).toEqual({ ...outcome, actual: 'no_stream' });
  });

  it('tells any other reason by its name', () => {
    const details = new sharedPb.MaximumAppendSizeExceeded();
    details.setMaxappendsize(9);
    expect(decodeAppendAnswer(refused('Maximum', details.serializeBinary())).outcome).toMatchObject({
      reason: 'Maximum',
      message: 'said',
    });
    const bare = answer((response) => response.setError(new statusPb.Status()));
    expect(decodeAppendAnswer(bare).outcome).toMatchObject({ kind: 'refused', reason: '', message: '' });
  });

  it('may tell the id as two halves, as EventStoreDB does', () => {
    const message = answer((response) => {
      const halves = new sharedPb.UUID.Structured();
      const digits = BigInt(`0x${ID.replaceAll('-', '')}`);
      halves.setMostSignificantBits(String(BigInt.asIntN(64, digits >> 64n)));
      halves.setLeastSignificantBits(String(BigInt.asIntN(64, digits)));
      const id = new sharedPb.UUID();
      id.setStructured(halves);
      response.setCorrelationId(id);
    });
    expect(decodeAppendAnswer(message).correlationId).toBe(ID);
  });

  it('that is cut off is an error', () => {
    expect(() => decodeAppendAnswer(written('3', '4').subarray(0, -1))).toThrow('cut off');
  });
});
