import { status, type Server, type ServiceDefinition, type UntypedHandleCall } from '@grpc/grpc-js';
import operationsGrpc from '@eventstore/db-client/generated/operations_grpc_pb.js';
import projectionsGrpc from '@eventstore/db-client/generated/projections_grpc_pb.js';
import usersGrpc from '@eventstore/db-client/generated/users_grpc_pb.js';
import { RpcError } from './rpc-error.js';

const REFUSED: readonly (readonly [ServiceDefinition, string])[] = [
  [
    projectionsGrpc.ProjectionsService,
    'The embedded event store runs no projections: project in the consumer from a catch-up subscription.',
  ],
  [
    operationsGrpc.OperationsService,
    'The embedded event store has no remote operations (scavenge, restart).',
  ],
  [usersGrpc.UsersService, 'The embedded event store has no users: it knows one login at most.'],
];

type Respond = (error: RpcError) => void;

/** Fails a call of any kind: those with a single answer have a callback, the others end with an error. */
const refuse =
  (details: string) =>
  (call: { emit(event: 'error', error: RpcError): boolean }, respond?: Respond): void => {
    const error = new RpcError(status.UNIMPLEMENTED, details);
    if (respond) respond(error);
    else call.emit('error', error);
  };

/** Answers the services that this server does not have with a sentence that says what to do instead. */
export const addUnsupportedServices = (server: Server): void => {
  for (const [service, details] of REFUSED) {
    const handler = refuse(details) as UntypedHandleCall;
    server.addService(service, Object.fromEntries(Object.keys(service).map((method) => [method, handler])));
  }
};
