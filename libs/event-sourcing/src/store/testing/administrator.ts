import { Client, credentials, type ServiceError } from '@grpc/grpc-js';

/** Field numbers of `DeleteReq` and `TombstoneReq` in EventStoreDB's streams.proto: they are the same. */
const OPTIONS = 1;
const [STREAM, ANY] = [1, 4];
const NAME = 3;

const field = (number: number, content: Buffer): Buffer =>
  Buffer.concat([Buffer.from([(number << 3) | 2, content.length]), content]);

const call = (connectionString: string, method: 'Delete' | 'Tombstone', stream: string): Promise<void> => {
  const channel = new Client(new URL(connectionString).host, credentials.createInsecure());
  const asIs = (bytes: Buffer): Buffer => bytes;
  const named = field(STREAM, field(NAME, Buffer.from(stream)));
  const request = field(OPTIONS, Buffer.concat([named, field(ANY, Buffer.alloc(0))]));
  return new Promise<void>((resolve, reject) => {
    const path = `/event_store.client.streams.Streams/${method}`;
    channel.makeUnaryRequest(path, asIs, asIs, request, (error: ServiceError | null) =>
      error ? reject(error) : resolve(),
    );
  }).finally(() => channel.close());
};

/** What the port cannot do, and somebody with the server's own tools can. */
export const softDelete = (connectionString: string, stream: string): Promise<void> =>
  call(connectionString, 'Delete', stream);
export const tombstone = (connectionString: string, stream: string): Promise<void> =>
  call(connectionString, 'Tombstone', stream);
