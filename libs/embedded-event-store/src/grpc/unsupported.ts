import { status, type Server, type ServiceDefinition, type UntypedHandleCall } from '@grpc/grpc-js';
import operationsGrpc from '@eventstore/db-client/generated/operations_grpc_pb.js';
import persistentGrpc from '@eventstore/db-client/generated/persistent_grpc_pb.js';
import projectionsGrpc from '@eventstore/db-client/generated/projections_grpc_pb.js';
import usersGrpc from '@eventstore/db-client/generated/users_grpc_pb.js';
import { RpcError } from './rpc-error.js';

const REFUSED: readonly (readonly [ServiceDefinition, string])[] = [
  [
    projectionsGrpc.ProjectionsService,
    'The embedded event store runs no projections: use a catch-up subscription and project in the consumer.',
  ],
  [
    operationsGrpc.OperationsService,
    'The embedded event store has no remote operations (scavenge, restart).',
  ],
  [
    persistentGrpc.PersistentSubscriptionsService,
    'The embedded event store has no persistent subscriptions: use a catch-up subscription and keep its checkpoint.',
  ],
  [usersGrpc.UsersService, 'The embedded event store has no user management: it supports a single login.'],
];

type Respond = (error: RpcError) => void;

/** Fails a call of any kind. A call with a single response has a callback; other calls end with an error. */
const refuse =
  (details: string) =>
  (call: { emit(event: 'error', error: RpcError): boolean }, respond?: Respond): void => {
    const error = new RpcError(status.UNIMPLEMENTED, details);
    if (respond) respond(error);
    else call.emit('error', error);
  };

/** Fails every call to an unsupported service with a message that says what to do instead. */
export const addUnsupportedServices = (server: Server): void => {
  for (const [service, details] of REFUSED) {
    const handler = refuse(details) as UntypedHandleCall;
    server.addService(service, Object.fromEntries(Object.keys(service).map((method) => [method, handler])));
  }
};
