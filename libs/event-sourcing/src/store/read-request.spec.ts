import { describe, expect, it } from '@jest/globals';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import { encodeReadRequest, type ReadRequest } from './read-request.js';

const { Options } = streamsPb.ReadReq;
const empty = (): sharedPb.Empty => new sharedPb.Empty();

/** The same request by the code that is generated from the protocol. */
const generated = ({ stream, from, backwards, count, filter }: ReadRequest): Uint8Array => {
  const options = new Options();
  if (stream === null) {
    const all = new Options.AllOptions();
    if (from === 'start') all.setStart(empty());
    else if (from === 'end') all.setEnd(empty());
    else {
      const position = new Options.Position();
      position.setCommitPosition(String(from));
      position.setPreparePosition(String(from));
      all.setPosition(position);
    }
    options.setAll(all);
  } else {
    const one = new Options.StreamOptions();
    const identifier = new sharedPb.StreamIdentifier();
    identifier.setStreamName(Buffer.from(stream));
    one.setStreamIdentifier(identifier);
    if (from === 'start') one.setStart(empty());
    else if (from === 'end') one.setEnd(empty());
    else one.setRevision(String(from));
    options.setStream(one);
  }
  options.setReadDirection(backwards ? 1 : 0);
  if (count === 'subscription') options.setSubscription(new Options.SubscriptionOptions());
  else options.setCount(String(count));
  if (filter) {
    const expression = new Options.FilterOptions.Expression();
    if ('regex' in filter.by) expression.setRegex(filter.by.regex);
    else expression.setPrefixList([...filter.by.prefixes]);
    const wanted = new Options.FilterOptions();
    if (filter.on === 'stream') wanted.setStreamIdentifier(expression);
    else wanted.setEventType(expression);
    if (filter.searchWindow === undefined) wanted.setCount(empty());
    else wanted.setMax(filter.searchWindow);
    wanted.setCheckpointintervalmultiplier(1);
    options.setFilter(wanted);
  } else options.setNoFilter(empty());
  const id = new Options.UUIDOption();
  id.setString(empty());
  options.setUuidOption(id);
  const request = new streamsPb.ReadReq();
  request.setOptions(options);
  return request.serializeBinary();
};

describe('a request to read has the bytes of the generated code', () => {
  const requests: readonly (readonly [string, ReadRequest])[] = [
    ['a stream from its start', { stream: 'reading-é', from: 'start', count: 256 }],
    ['a stream backwards from its end', { stream: 'a', from: 'end', backwards: true, count: 1 }],
    ['a stream from revision 0', { stream: 'a', from: 0n, count: 300 }],
    ['a stream from a late revision', { stream: 'x'.repeat(300), from: 2n ** 53n + 1n, count: 1_024 }],
    ['the log', { stream: null, from: 'start', count: 32 }],
    ['the log backwards', { stream: null, from: 'end', backwards: true, count: 64 }],
    ['the log from a position', { stream: null, from: 2n ** 63n - 1n, count: 257 }],
    [
      'categories of the log',
      {
        stream: null,
        from: 1n,
        count: 9,
        filter: { on: 'stream', by: { regex: '^(?:a|é)(?:-|$)' }, searchWindow: 500 },
      },
    ],
    [
      'a subscription to categories',
      {
        stream: null,
        from: 128n,
        count: 'subscription',
        filter: { on: 'stream', by: { prefixes: ['credits-', 'reading-'] } },
      },
    ],
    [
      'a subscription without system events',
      {
        stream: null,
        from: 'start',
        count: 'subscription',
        filter: { on: 'type', by: { regex: '^[^$].*' } },
      },
    ],
  ];
  it.each(requests)('%s', (_, request) => {
    expect(encodeReadRequest(request).toString('hex')).toBe(Buffer.from(generated(request)).toString('hex'));
  });
});
