import { Server, ServerCredentials, status, type ServerDuplexStream } from '@grpc/grpc-js';
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import statusPb from '@eventstore/db-client/generated/status_pb.js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { connect, createServer, type AddressInfo } from 'node:net';
import anyPb from 'google-protobuf/google/protobuf/any_pb.js';
import { addedToAppend } from '../testing/tally.js';
import { CorruptEvent } from '../core/event-catalogue.js';
import { loadClient } from './clients/load.js';
import { openConnection, type Connection } from './connection.js';
import { AppendTooLarge, isAccessDenied, WrongExpectedRevision } from './errors.js';

type Call = ServerDuplexStream<streamsPb.BatchAppendReq, streamsPb.BatchAppendResp>;

/** What the server does with the next requests. By default it keeps them. */
let treat: (call: Call, request: streamsPb.BatchAppendReq) => void;
let calls: Call[];
let server: Server;
let connection: Connection;
let port: number;

beforeEach(async () => {
  treat = () => undefined;
  calls = [];
  server = new Server();
  const batchAppend = (call: Call): void => {
    calls.push(call);
    call.on('data', (request: streamsPb.BatchAppendReq) => treat(call, request));
    call.on('end', () => call.end());
    call.on('error', () => undefined);
  };
  server.addService({ batchAppend: streamsGrpc.StreamsService.batchAppend }, { batchAppend });
  port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => {
      if (error) reject(error);
      else resolve(bound);
    });
  });
  connection = await open(20_000);
});

const open = async (appendTimeoutMs: number, at = port): Promise<Connection> =>
  openConnection({
    openClient: await loadClient('eventstore'),
    connectionString: `esdb://127.0.0.1:${at}?tls=false`,
    proxyFromEnvironment: false,
    reads: 1,
    readTimeoutMs: 5_000,
    appendTimeoutMs,
  });

afterEach(async () => {
  await connection.close();
  server.forceShutdown();
});

const STREAM = 'tally-1';
const append = (stream = STREAM) => connection.appends.append(stream, 4n, [addedToAppend(randomUUID(), 'r')]);

const answerTo = (request: streamsPb.BatchAppendReq): streamsPb.BatchAppendResp => {
  const response = new streamsPb.BatchAppendResp();
  response.setCorrelationId(request.getCorrelationId());
  return response;
};

/** Tells the number in the stream's name as the revision. */
const write = (call: Call, request: streamsPb.BatchAppendReq): void => {
  const stream = Buffer.from(request.getOptions()!.getStreamIdentifier()!.getStreamName_asU8()).toString();
  const success = new streamsPb.BatchAppendResp.Success();
  success.setCurrentRevision(stream.split('-')[1]!);
  const response = answerTo(request);
  response.setSuccess(success);
  call.write(response);
};

const refuse =
  (reason: string, details: Uint8Array = new Uint8Array()) =>
  (call: Call, request: streamsPb.BatchAppendReq): void => {
    const any = new anyPb.Any();
    any.pack(details, `event_store.client.${reason}`);
    const error = new statusPb.Status();
    error.setDetails(any);
    const response = answerTo(request);
    response.setError(error);
    call.write(response);
  };

const UNKNOWN_OUTCOME = { name: 'StoreUnavailable', outcomeUnknown: true };

describe('an append', () => {
  it('gets its own answer, in whatever order answers come', async () => {
    const kept: [Call, streamsPb.BatchAppendReq][] = [];
    treat = (call, request) => {
      kept.push([call, request]);
      if (kept.length === 20) kept.toReversed().forEach((each) => write(...each));
    };
    const results = await Promise.all(Array.from({ length: 20 }, (_, n) => append(`tally-${n}`)));
    expect(results.map(({ revision }) => Number(revision))).toEqual(Array.from({ length: 20 }, (_, n) => n));
    expect(calls).toHaveLength(1);
  });

  it('at a wrong revision learns the right one', async () => {
    const details = new sharedPb.WrongExpectedVersion();
    details.setCurrentStreamRevision('9');
    treat = refuse('WrongExpectedVersion', details.serializeBinary());
    const refused = append();
    await expect(refused).rejects.toBeInstanceOf(WrongExpectedRevision);
    await expect(refused).rejects.toMatchObject({ stream: STREAM, expected: 4n, actual: 9n });
  });

  it.each(['MaximumAppendSizeExceeded', 'MaximumAppendEventSizeExceeded'])(
    'that the server refuses with %s is too large',
    async (reason) => {
      treat = refuse(reason);
      await expect(append()).rejects.toBeInstanceOf(AppendTooLarge);
    },
  );

  it('to a stream with a tombstone says that somebody deleted it', async () => {
    treat = refuse('StreamDeleted');
    await expect(append()).rejects.toThrow(CorruptEvent);
  });

  it('of a login without the right to it is refused', async () => {
    treat = refuse('AccessDenied');
    expect(isAccessDenied(await append().catch((error: unknown) => error))).toBe(true);
  });

  it.each(['Timeout', 'Unknown', 'BadRequest', 'SomethingNew'])(
    'that the server answers with %s has an unknown outcome',
    async (reason) => {
      treat = refuse(reason);
      await expect(append()).rejects.toMatchObject(UNKNOWN_OUTCOME);
    },
  );

  it('that fails leaves the call to the others', async () => {
    treat = refuse('Timeout');
    await expect(append()).rejects.toMatchObject(UNKNOWN_OUTCOME);
    treat = write;
    await append();
    expect(calls).toHaveLength(1);
  });
});

describe('when the server ends the call', () => {
  const ends: readonly (readonly [string, status])[] = [
    ['CANCELLED', status.CANCELLED],
    ['UNKNOWN, as EventStoreDB does at SIGTERM', status.UNKNOWN],
    ['UNAVAILABLE', status.UNAVAILABLE],
    ['UNIMPLEMENTED, as a server without such calls', status.UNIMPLEMENTED],
    ['RESOURCE_EXHAUSTED', status.RESOURCE_EXHAUSTED],
    ['INVALID_ARGUMENT', status.INVALID_ARGUMENT],
    ['no error', status.OK],
  ];
  it.each(ends)(
    'with %s, all its appends have an unknown outcome, and the next one goes on',
    async (_, code) => {
      let received = 0;
      treat = (call) => {
        received += 1;
        if (received < 3) return;
        if (code === status.OK) call.end();
        else call.emit('error', { code, details: 'over' });
      };
      const appends = await Promise.allSettled([append(), append(), append()]);
      for (const outcome of appends)
        expect(outcome).toMatchObject({ status: 'rejected', reason: UNKNOWN_OUTCOME });
      treat = write;
      expect((await append('tally-7')).revision).toBe(7n);
      expect(calls).toHaveLength(2);
    },
  );

  it('because the login has no right, its appends are refused', async () => {
    treat = (call) => call.emit('error', { code: status.UNAUTHENTICATED, details: 'who?' });
    expect(isAccessDenied(await append().catch((error: unknown) => error))).toBe(true);
  });
});

it('An append without an answer in time has an unknown outcome, and a late answer is dropped', async () => {
  let late = (): void => undefined;
  treat = (call, request) => {
    late = () => write(call, request);
  };
  await connection.close();
  connection = await open(3_000);
  await expect(append()).rejects.toMatchObject(UNKNOWN_OUTCOME);
  late();
  treat = write;
  expect((await append('tally-8')).revision).toBe(8n);
  expect(calls).toHaveLength(1);
});

it('Appends of one turn of the event loop leave in one write, once the call has an answer', async () => {
  let pieces = 0;
  const relay = createServer((socket) => {
    const onwards = connect(port, '127.0.0.1');
    socket.on('data', () => (pieces += 1));
    socket.pipe(onwards).pipe(socket);
  });
  await new Promise<void>((resolve) => void relay.listen(0, '127.0.0.1', resolve));
  await connection.close();
  connection = await open(20_000, (relay.address() as AddressInfo).port);
  treat = write;
  await append();
  const before = pieces;
  await Promise.all(Array.from({ length: 50 }, () => append()));
  expect(pieces - before).toBeLessThan(10);
  relay.close();
});
