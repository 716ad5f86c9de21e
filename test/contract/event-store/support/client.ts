import { EventStoreDBClient } from '@eventstore/db-client';
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import streamsPb from '@eventstore/db-client/generated/streams_pb.js';

/** A connection string for tests: the client's own deadline is 10 s, which a pause of a slow machine can reach. */
export const patient = (connectionString: string): string =>
  `${connectionString}${connectionString.includes('?') ? '&' : '?'}defaultDeadline=120000`;

export {
  binaryEvent,
  excludeSystemEvents,
  jsonEvent,
  streamNameFilter,
  type EventStoreDBClient,
} from '@eventstore/db-client';

/** Opens a client. It connects with its first call. */
export const connect = (connectionString: string): EventStoreDBClient =>
  EventStoreDBClient.connectionString(connectionString);

/** Generated messages, for calls that the client never makes. */
export const generated = { streamsGrpc, streamsPb };
