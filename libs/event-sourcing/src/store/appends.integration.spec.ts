import { Server, ServerCredentials, status, type ServerDuplexStream } from '@grpc/grpc-js';
import serverFeaturesGrpc from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import statusPb from '@eventstore/db-client/generated/status_pb.js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import anyPb from 'google-protobuf/google/protobuf/any_pb.js';
import { getSupportedMethods } from '#embedded-event-store/grpc/server.js';
import { addedToAppend } from '../testing/tally.js';
import { CorruptEvent } from '../core/event-catalogue.js';
import { readAddress } from './address.js';
import { openAppends, type Appends } from './appends.js';
import { AppendTooLarge, isAccessDenied, WrongExpectedRevision } from './errors.js';
import { StoreClient } from './store-client.js';

type Call = ServerDuplexStream<streamsPb.BatchAppendReq, streamsPb.BatchAppendResp>;

/** What the server does with the next requests. By default it keeps them. */
let treat: (call: Call, request: streamsPb.BatchAppendReq) => void;
let calls: Call[];
let server: Server;
let appends: Appends;
let port: number;
/** Clients that were opened. */
let opened: number;

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
  server.addService(serverFeaturesGrpc.ServerFeaturesService, { getSupportedMethods });
  server.addService({ batchAppend: streamsGrpc.StreamsService.batchAppend }, { batchAppend });
  port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => {
      if (error) reject(error);
      else resolve(bound);
    });
  });
  open(20_000);
});

const open = (appendTimeoutMs: number): void => {
  opened = 0;
  const node = `127.0.0.1:${port}`;
  appends = openAppends(async () => {
    opened += 1;
    return new StoreClient(readAddress(`esdb://${node}?tls=false`), node);
  }, appendTimeoutMs);
};

afterEach(async () => {
  await appends.close();
  server.forceShutdown();
});

const STREAM = 'tally-1';
const append = (stream = STREAM) => appends.append(stream, 4n, [addedToAppend(randomUUID(), 'r')]);

const answerTo = (request: streamsPb.BatchAppendReq): streamsPb.BatchAppendResp => {
  const response = new streamsPb.BatchAppendResp();
  response.setCorrelationId(request.getCorrelationId());
  response.setStreamIdentifier(request.getOptions()!.getStreamIdentifier());
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
    error.setMessage(reason);
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

  it.each([
    ['StreamDeleted', (error: unknown) => error instanceof CorruptEvent],
    ['MaximumAppendSizeExceeded', (error: unknown) => error instanceof AppendTooLarge],
    ['AccessDenied', isAccessDenied],
  ])('that the server refuses with %s fails with what that means', async (reason, isMeant) => {
    treat = refuse(reason);
    expect(isMeant(await append().catch((error: unknown) => error))).toBe(true);
  });

  it.each(['BadRequest', 'SomethingNew'])(
    'that the server answers with %s has an unknown outcome',
    async (reason) => {
      treat = refuse(reason);
      await expect(append()).rejects.toMatchObject(UNKNOWN_OUTCOME);
    },
  );

  it('that takes too long to write leaves the call to the others', async () => {
    treat = refuse('Timeout');
    await expect(append()).rejects.toMatchObject(UNKNOWN_OUTCOME);
    treat = write;
    await append();
    expect([calls.length, opened]).toEqual([1, 1]);
  });

  it.each(['Unknown'])(
    'that a node refuses with %s, as one that leads no longer, goes over a new client next, and the former call is closed',
    async (reason) => {
      treat = refuse(reason);
      await expect(append()).rejects.toMatchObject(UNKNOWN_OUTCOME);
      treat = write;
      await append();
      expect([calls.length, opened]).toEqual([2, 2]);
      await new Promise<void>((resolve) => {
        if (calls[0]!.cancelled) resolve();
        else calls[0]!.on('cancelled', resolve);
      });
    },
  );
});

describe('when the server ends the call', () => {
  const ends: readonly (readonly [string, status])[] = [
    ['CANCELLED', status.CANCELLED],
    ['UNAVAILABLE', status.UNAVAILABLE],
    ['UNIMPLEMENTED, as a server without such calls', status.UNIMPLEMENTED],
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
  await appends.close();
  open(3_000);
  await expect(append()).rejects.toMatchObject(UNKNOWN_OUTCOME);
  late();
  treat = write;
  expect((await append('tally-8')).revision).toBe(8n);
  expect(calls).toHaveLength(1);
});
