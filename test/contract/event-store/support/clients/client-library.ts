import type * as db from '@eventstore/db-client';
import type sharedPb from '@eventstore/db-client/generated/shared_pb.js';
import type streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type streamsPb from '@eventstore/db-client/generated/streams_pb.js';

/** What the cases call. They speak the older client's language: `expectedRevision`, `actualVersion`. */
export type StoreClient = Pick<
  db.EventStoreDBClient,
  | 'appendToStream'
  | 'createPersistentSubscriptionToStream'
  | 'createProjection'
  | 'deleteStream'
  | 'dispose'
  | 'getStreamMetadata'
  | 'setStreamMetadata'
  | 'subscribeToAll'
  | 'subscribeToStream'
  | 'tombstoneStream'
> & {
  // The newer client's reads are iterables only: no streams that can be cancelled.
  readStream(stream: string, options?: db.ReadStreamOptions): AsyncIterable<db.ResolvedEvent>;
  readAll(options?: db.ReadAllOptions): AsyncIterable<db.AllStreamResolvedEvent>;
};

/** One of the two packages that speak the protocol. */
export interface ClientLibrary extends Pick<
  typeof db,
  | 'binaryEvent'
  | 'eventTypeFilter'
  | 'excludeSystemEvents'
  | 'jsonEvent'
  | 'persistentSubscriptionToStreamSettingsFromDefaults'
  | 'streamNameFilter'
> {
  /** Opens a client. It connects with its first call. */
  readonly connect: (connectionString: string) => StoreClient;
  /** Generated messages, for calls that no client makes. */
  readonly generated: {
    readonly sharedPb: typeof sharedPb;
    readonly streamsGrpc: typeof streamsGrpc;
    readonly streamsPb: typeof streamsPb;
  };
}
