import { once } from 'node:events';
import { Server, ServerCredentials, type ServerWritableStream } from '@grpc/grpc-js';
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { encodeRecord, StoredRecord } from '../log/record.js';
import { encodeReadEvent } from '../wire/read-response.js';

/** An event on the wire as a read answers with it. */
const cannedAnswer = (data: Buffer): Buffer => {
  const event = {
    id: '6f9619ff-8b86-4011-b42d-00c04fc964ff',
    type: 'Measured',
    contentType: 'application/json',
    data,
    metadata: Buffer.alloc(0),
  };
  const placement = { stream: 'bench-1', revision: 1_000n, position: 1_000_000n, createdAt: 0 };
  const record = StoredRecord.from(encodeRecord(event, placement), placement.position);
  return encodeReadEvent({ event: record }, false);
};

/**
 * A server that answers every read with the same event so many times, encoded once: what a client can decode at
 * best. @returns its port.
 */
export const startCannedServer = (data: Buffer, count: number): Promise<number> => {
  const answer = cannedAnswer(data);
  const read = async (call: ServerWritableStream<unknown, Buffer>): Promise<void> => {
    for (let sent = 0; sent < count; sent++) if (!call.write(answer)) await once(call, 'drain');
    call.end();
  };
  const server = new Server();
  const encoded = {
    ...streamsGrpc.StreamsService.read,
    responseSerialize: (message: Buffer): Buffer => message,
  };
  server.addService(
    { read: encoded },
    {
      // A reader that has enough cancels the call, which rejects the wait for room.
      read: (call: ServerWritableStream<unknown, Buffer>) => void read(call).catch(() => undefined),
    },
  );
  return new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
      if (error) reject(error);
      else resolve(port);
    });
  });
};
