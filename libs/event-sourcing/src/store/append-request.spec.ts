import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import type { EventToAppend } from '../core/event.js';
import { encodeAppendRequest, type AppendRequest } from './append-request.js';
import { AppendTooLarge } from './errors.js';

const idOf = (text: string): sharedPb.UUID => {
  const id = new sharedPb.UUID();
  id.setString(text);
  return id;
};

/** The same request by the code that is generated from the protocol. */
const generated = ({ correlationId, stream, expected, events }: AppendRequest): Uint8Array => {
  const options = new streamsPb.BatchAppendReq.Options();
  const identifier = new sharedPb.StreamIdentifier();
  identifier.setStreamName(Buffer.from(stream));
  options.setStreamIdentifier(identifier);
  if (expected === 'no_stream') options.setNoStream(new sharedPb.Empty());
  else options.setStreamPosition(String(expected));
  const request = new streamsPb.BatchAppendReq();
  request.setCorrelationId(idOf(correlationId));
  request.setOptions(options);
  request.setIsFinal(true);
  for (const { id, type, data, metadata } of events) {
    const message = new streamsPb.BatchAppendReq.ProposedMessage();
    message.setId(idOf(id));
    message.getMetadataMap().set('type', type).set('content-type', 'application/json');
    message.setData(Buffer.from(JSON.stringify(data)));
    const { correlationId: $correlationId, causationId: $causationId } = metadata;
    message.setCustomMetadata(Buffer.from(JSON.stringify({ ...metadata, $correlationId, $causationId })));
    request.addProposedMessages(message);
  }
  return request.serializeBinary();
};

const event = (data: unknown): EventToAppend => ({
  id: randomUUID(),
  type: 'Ärger',
  data,
  metadata: {
    correlationId: randomUUID(),
    causationId: 'request',
    workspaceId: 'ws_é',
    actor: 'system:spec',
    occurredAt: '2026-01-01T00:00:00.000Z',
    schemaVersion: 1,
  },
});

const asked = (request: Partial<AppendRequest>): AppendRequest => ({
  correlationId: randomUUID(),
  stream: 'tally-é',
  expected: 'no_stream',
  events: [event({ name: 'Zoé', emoji: '🌙' })],
  ...request,
});

describe('an append has the bytes of the generated code', () => {
  const requests: readonly (readonly [string, AppendRequest])[] = [
    ['to a new stream', asked({})],
    ['at revision 0', asked({ expected: 0n })],
    ['at a late revision', asked({ expected: 2n ** 63n - 1n })],
    ['of several events', asked({ events: [event({}), event('text'), event([1, null])] })],
    ['of many bytes', asked({ events: [event('x'.repeat(200_000)), event('é'.repeat(200_000))] })],
    ['with a long name', asked({ stream: 'x'.repeat(1_000) })],
  ];
  it.each(requests)('%s', (_, request) => {
    expect(encodeAppendRequest(request).equals(Buffer.from(generated(request)))).toBe(true);
  });
});

it('An append of more bytes than any server takes is refused here', () => {
  const withBytes = (bytes: number) => asked({ events: [event('é'.repeat(bytes / 2))] });
  expect(() => encodeAppendRequest(withBytes(1_048_576))).toThrow(AppendTooLarge);
  expect(encodeAppendRequest(withBytes(1_048_000)).length).toBeGreaterThan(1_048_000);
  // Servers count the characters of each type twice.
  const types = Array.from({ length: 3_000 }, () => ({ ...event(1), type: 'x'.repeat(120) }));
  expect(() => encodeAppendRequest(asked({ events: types.slice(0, 1_500) }))).not.toThrow();
  expect(() => encodeAppendRequest(asked({ events: types }))).toThrow(AppendTooLarge);
});
