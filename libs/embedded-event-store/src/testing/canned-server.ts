import { once } from 'node:events';
import { Server, ServerCredentials, type ServerDuplexStream, type ServerWritableStream } from '@grpc/grpc-js';
import serverFeaturesGrpc from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import type { BatchAppendReq, BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import { getSupportedMethods } from '../grpc/server.js';
import { encodeRecord, StoredRecord } from '../log/record.js';

/** A read response with one event, as sent on the wire. */
const cannedAnswer = (data: Buffer): Buffer => {
  const event = {
    id: '6f9619ff-8b86-4011-b42d-00c04fc964ff',
    type: 'Measured',
    contentType: 'application/json',
    data,
    metadata: Buffer.alloc(0),
  };
  const placement = { stream: 'bench-1', revision: 1_000n, position: 1_000_000n, createdAt: 0 };
  return StoredRecord.from(encodeRecord(event, placement), placement.position).message;
};

/** Acknowledges appends without reading them. */
const batchAppend = (call: ServerDuplexStream<BatchAppendReq, BatchAppendResp>): void => {
  call.on('data', (request: BatchAppendReq) => {
    const success = new streamsPb.BatchAppendResp.Success();
    success.setCurrentRevision('1');
    const response = new streamsPb.BatchAppendResp();
    response.setCorrelationId(request.getCorrelationId());
    response.setSuccess(success);
    call.write(response);
  });
  call.on('end', () => {
    call.end();
  });
};

/**
 * Measures the best that a client can do. The server answers every read with `count` copies of one event,
 * encoded once. It acknowledges every append without storing it.
 * @returns its port
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
    { read: encoded, batchAppend: streamsGrpc.StreamsService.batchAppend },
    {
      batchAppend,
      // A reader that has enough events cancels the call, which rejects the wait for room.
      read: (call: ServerWritableStream<unknown, Buffer>) => void read(call).catch(() => undefined),
    },
  );
  server.addService(serverFeaturesGrpc.ServerFeaturesService, { getSupportedMethods });
  return new Promise((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
      if (error) reject(error);
      else resolve(port);
    });
  });
};
