// caught by: eslint(no-restricted-imports): EventStore port
// caught by: eslint(no-restricted-imports): EventStore port
export { EventStoreDBClient } from '@eventstore/db-client';
export { StreamsService } from '@eventstore/db-client/generated/streams_grpc_pb.js';
