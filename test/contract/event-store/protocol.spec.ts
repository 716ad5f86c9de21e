import { credentials, type Metadata, type ServiceError } from '@grpc/grpc-js';
import { connect, generated, persistentSubscriptionToStreamSettingsFromDefaults } from './support/client.js';
import type { AppendResp, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { collect, freshStream, numbered, one, rejection } from './support/events.js';
import { EXTERNAL_URL, IS_EMBEDDED, storeUnderTest } from './support/store-under-test.js';

const { sharedPb, streamsGrpc, streamsPb } = generated;
const store = storeUnderTest();

describe('a client that discovers its node by gossip', () => {
  it('finds the one node and uses it', async () => {
    const discovering = store.connectionString.replace(/^esdb:/, 'esdb+discover:');
    const client = connect(discovering);
    const stream = freshStream();
    await client.appendToStream(stream, one());
    expect(await collect(client.readStream(stream))).toHaveLength(1);
    await client.dispose();
  });
});

/** Uses the client's generated stubs for calls that the client itself never makes: raw, without TLS. */
const whenInsecure = EXTERNAL_URL && !EXTERNAL_URL.includes('tls=false') ? describe.skip : describe;

whenInsecure('the protocol beneath the client', () => {
  let raw: StreamsClient;

  beforeAll(() => {
    const address = new URL(store.connectionString.replace(/^esdb:/, 'http:')).host;
    raw = new streamsGrpc.StreamsClient(address, credentials.createInsecure());
  });

  afterAll(() => {
    raw.close();
  });

  const identifier = (stream: string) => {
    const id = new sharedPb.StreamIdentifier();
    id.setStreamName(Buffer.from(stream));
    return id;
  };

  type Change = (message: InstanceType<typeof streamsPb.AppendReq.ProposedMessage>) => void;

  const append = (
    stream: string,
    expected: bigint | undefined,
    change: Change = () => undefined,
    copies = 1,
  ) =>
    new Promise<AppendResp>((resolve, reject) => {
      const call = raw.append((error: ServiceError | null, response: AppendResp) => {
        if (error) reject(error);
        else resolve(response);
      });
      const options = new streamsPb.AppendReq.Options();
      options.setStreamIdentifier(identifier(stream));
      if (expected === undefined) options.setNoStream(new sharedPb.Empty());
      else options.setRevision(String(expected));
      const first = new streamsPb.AppendReq();
      first.setOptions(options);
      call.write(first);
      for (let n = 0; n < copies; n++) {
        const event = one();
        const message = new streamsPb.AppendReq.ProposedMessage();
        const id = new sharedPb.UUID();
        id.setString(event.id);
        message.setId(id);
        message.getMetadataMap().set('type', event.type);
        message.getMetadataMap().set('content-type', 'application/json');
        message.setData(Buffer.from(JSON.stringify(event.data)));
        change(message);
        const next = new streamsPb.AppendReq();
        next.setProposedMessage(message);
        call.write(next);
      }
      call.end();
    });

  const trailers = (error: Record<string, unknown>) => (error.metadata as Metadata).getMap();

  it('answers an append with the revision and position of its last event', async () => {
    const stream = freshStream();
    const response = await append(stream, undefined, undefined, 3);
    expect(response.getSuccess()?.getCurrentRevision()).toBe('2');
    const events = await collect(store.client.readStream(stream));
    expect(response.getSuccess()?.getPosition()?.getCommitPosition()).toBe(
      String(events.at(-1)?.event?.position?.commit),
    );
  });

  it('answers a conflict of an append with status OK and both revisions', async () => {
    const stream = freshStream();
    await append(stream, undefined, undefined, 2);
    const conflict = (await append(stream, 7n)).getWrongExpectedVersion();
    expect(conflict?.getCurrentRevision()).toBe('1');
    expect(conflict?.getExpectedRevision()).toBe('7');
    const missing = (await append(freshStream(), 7n)).getWrongExpectedVersion();
    expect(missing?.hasCurrentNoStream()).toBe(true);
  });

  it('refuses an append to a tombstoned stream with trailers', async () => {
    const stream = freshStream();
    await store.client.tombstoneStream(stream);
    const error = await rejection(append(stream, undefined));
    expect(error.code).toBe(9);
    expect(trailers(error)).toMatchObject({ exception: 'stream-deleted', 'stream-name': stream });
  });

  it('refuses an event without a type, with the list of required fields', async () => {
    const error = await rejection(
      append(freshStream(), undefined, (message) => message.getMetadataMap().del('type')),
    );
    expect(error.code).toBe(3);
    expect(trailers(error)).toMatchObject({
      exception: 'missing-required-metadata-property',
      'required-metadata-properties': 'type,content-type',
    });
  });

  it('refuses an event that is too large', async () => {
    const error = await rejection(
      append(freshStream(), undefined, (message) => {
        message.setData(Buffer.alloc(1024 * 1024 + 1));
      }),
    );
    expect(error.code).toBe(3);
    // KurrentDB 26 has a limit for one event beside that for an append.
    expect(trailers(error)['exception']).toMatch(/^maximum-append-(event-)?size-exceeded$/);
  });

  it('fails on an event id that is no UUID, without a reason', async () => {
    const error = await rejection(
      append(freshStream(), undefined, (message) => message.getId()?.setString('no-uuid')),
    );
    expect(error.code).toBe(2);
  });

  it('sends trailers with the conflict of a delete', async () => {
    const stream = freshStream();
    await store.client.appendToStream(stream, numbered(2));
    const request = new streamsPb.DeleteReq();
    const options = new streamsPb.DeleteReq.Options();
    options.setStreamIdentifier(identifier(stream));
    options.setRevision('5');
    request.setOptions(options);
    const error = await rejection(
      new Promise((resolve, reject) => {
        raw.delete(request, (failure, response) => {
          if (failure) reject(failure);
          else resolve(response);
        });
      }),
    );
    expect(error.code).toBe(9);
    expect(trailers(error)).toMatchObject({
      exception: 'wrong-expected-version',
      'stream-name': stream,
      'expected-version': '5',
      'actual-version': '1',
    });
  });

  type FilterSetter = (options: InstanceType<typeof streamsPb.ReadReq.Options>) => void;

  const readAllRaw = (set: FilterSetter) => {
    const request = new streamsPb.ReadReq();
    const options = new streamsPb.ReadReq.Options();
    const all = new streamsPb.ReadReq.Options.AllOptions();
    all.setStart(new sharedPb.Empty());
    options.setAll(all);
    options.setNoFilter(new sharedPb.Empty());
    options.setCount('1000');
    const uuid = new streamsPb.ReadReq.Options.UUIDOption();
    uuid.setString(new sharedPb.Empty());
    options.setUuidOption(uuid);
    set(options);
    request.setOptions(options);
    return collect(raw.read(request) as AsyncIterable<ReadResp>);
  };

  it('filters a read of $all on the server and counts matches only', async () => {
    const stream = freshStream('filtered');
    await store.client.appendToStream(freshStream(), numbered(40));
    await store.client.appendToStream(stream, numbered(3));
    const responses = await readAllRaw((options) => {
      const expression = new streamsPb.ReadReq.Options.FilterOptions.Expression();
      expression.addPrefix(stream);
      const filter = new streamsPb.ReadReq.Options.FilterOptions();
      filter.setStreamIdentifier(expression);
      filter.setMax(32);
      filter.setCheckpointintervalmultiplier(1);
      options.setFilter(filter);
      options.setCount('2');
    });
    const events = responses.filter((response) => response.hasEvent());
    expect(events.map((response) => response.getEvent()?.getEvent()?.getStreamRevision())).toEqual([
      '0',
      '1',
    ]);
  });

  it('sends ids in structured form on request', async () => {
    const event = one();
    const stream = freshStream();
    await store.client.appendToStream(stream, event);
    const responses = await readAllRaw((options) => {
      const uuid = new streamsPb.ReadReq.Options.UUIDOption();
      uuid.setStructured(new sharedPb.Empty());
      options.setUuidOption(uuid);
      options.setCount('100000');
    });
    const own = responses.find((response) => {
      const name = response.getEvent()?.getEvent()?.getStreamIdentifier()?.getStreamName_asU8();
      return name !== undefined && Buffer.from(name).toString() === stream;
    });
    const structured = own?.getEvent()?.getEvent()?.getId()?.getStructured();
    const halves = [structured?.getMostSignificantBits(), structured?.getLeastSignificantBits()];
    const hex = halves
      .map((half) =>
        BigInt.asUintN(64, BigInt(half ?? 0))
          .toString(16)
          .padStart(16, '0'),
      )
      .join('');
    expect(hex).toBe(event.id.replaceAll('-', ''));
  });
});

(IS_EMBEDDED ? describe : describe.skip)('what the embedded server does not have', () => {
  it('is refused with a sentence that says what to do instead', async () => {
    const projection = await rejection(store.client.createProjection('p', 'fromAll()'));
    expect(projection.code).toBe(12);
    expect(projection.message).toMatch(/no projections/);
    const group = await rejection(
      store.client.createPersistentSubscriptionToStream(
        freshStream(),
        'readers',
        persistentSubscriptionToStreamSettingsFromDefaults(),
      ),
    );
    expect(group.code).toBe(12);
    expect(group.message).toMatch(/no persistent subscriptions: use a catch-up subscription/);
  });
});
