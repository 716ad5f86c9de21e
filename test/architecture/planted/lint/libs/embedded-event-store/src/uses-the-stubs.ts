export { StreamsService } from '@eventstore/db-client/generated/streams_grpc_pb.js';
