import * as db from '@eventstore/db-client';
import sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';
import type { ClientLibrary } from './client-library.js';

/** `@eventstore/db-client`. */
export const library: ClientLibrary = {
  ...db,
  connect: (connectionString) => db.EventStoreDBClient.connectionString(connectionString),
  generated: { sharedPb, streamsGrpc, streamsPb },
};
