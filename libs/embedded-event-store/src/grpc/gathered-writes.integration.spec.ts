import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { once } from 'node:events';
import { connect } from 'node:http2';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedEventStore, type EmbeddedEventStore } from '../index.js';

const EVENTS = 200;
const PREFIX_BYTES = 5;

let dataDir: string;
let server: EmbeddedEventStore;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'gathered-writes-'));
  server = await startEmbeddedEventStore({ dataDir });
  const client = EventStoreDBClient.connectionString(server.connectionString);
  const events = Array.from({ length: EVENTS }, (_, n) => jsonEvent({ type: 'Counted', data: { n } }));
  await client.appendToStream('count-1', events);
  await client.dispose();
});

afterAll(async () => {
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const readAllOf = (stream: string): Buffer => {
  const identifier = new sharedPb.StreamIdentifier();
  identifier.setStreamName(Buffer.from(stream).toString('base64'));
  const options = new streamsPb.ReadReq.Options();
  const ofStream = new streamsPb.ReadReq.Options.StreamOptions();
  ofStream.setStreamIdentifier(identifier);
  ofStream.setStart(new sharedPb.Empty());
  options.setStream(ofStream);
  options.setCount(String(EVENTS));
  const ids = new streamsPb.ReadReq.Options.UUIDOption();
  ids.setString(new sharedPb.Empty());
  options.setUuidOption(ids);
  options.setNoFilter(new sharedPb.Empty());
  const request = new streamsPb.ReadReq();
  request.setOptions(options);
  const message = Buffer.from(request.serializeBinary());
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
};

/** The lengths of the messages in an answer. */
const messagesIn = (answer: Buffer): number[] => {
  const lengths: number[] = [];
  for (let at = 0; at < answer.length; at += PREFIX_BYTES + lengths.at(-1)!)
    lengths.push(answer.readUInt32BE(at + 1));
  return lengths;
};

describe('the answer to a read', () => {
  it('takes few frames, because events that wait leave together', async () => {
    const session = connect(`http://127.0.0.1:${server.connectionString.match(/:(\d+)\?/)![1]!}`);
    const call = session.request({
      ':method': 'POST',
      ':path': streamsGrpc.StreamsService.read.path,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    const frames: Buffer[] = [];
    call.on('data', (frame: Buffer) => frames.push(frame));
    call.end(readAllOf('count-1'));
    await once(call, 'end');
    session.close();
    expect(messagesIn(Buffer.concat(frames))).toHaveLength(EVENTS);
    expect(frames.length).toBeLessThan(EVENTS / 4);
  });
});
