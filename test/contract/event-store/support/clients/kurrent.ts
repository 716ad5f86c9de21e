import * as kurrent from '@kurrent/kurrentdb-client';
import sharedPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/shared_pb.js';
import streamsGrpc from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_grpc_pb.js';
import streamsPb from '@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_pb.js';
import type { ClientLibrary, StoreClient } from './client-library.js';

type Method = (...args: readonly unknown[]) => unknown;

/** The newer client calls the expected revision of an append a state, but not that of a delete. */
const withState = (argument: unknown): unknown =>
  argument !== null && typeof argument === 'object' && 'expectedRevision' in argument
    ? { ...argument, streamState: argument.expectedRevision }
    : argument;

const throwWithVersions = (error: Error): never => {
  if ('actualState' in error && 'expectedState' in error)
    Object.assign(error, { expectedVersion: error.expectedState, actualVersion: error.actualState });
  throw error;
};

/** `@kurrent/kurrentdb-client`, in the words of the older one. */
export const library = {
  ...kurrent,
  connect: (connectionString: string) =>
    new Proxy(kurrent.KurrentDBClient.connectionString(connectionString.replace(/^esdb/, 'kurrentdb')), {
      get: (client, name) => {
        const member: unknown = Reflect.get(client, name);
        if (typeof member !== 'function') return member;
        return (...args: readonly unknown[]) => {
          const result = (member as Method).apply(client, args.map(withState));
          return result instanceof Promise ? result.catch(throwWithVersions) : result;
        };
      },
    }) as unknown as StoreClient,
  generated: { sharedPb, streamsGrpc, streamsPb },
} as unknown as ClientLibrary;
