/** The state of a process's connection to the event store, for probes and metrics. */
export interface StoreConnection {
  /** Reads fail although the store answers others, and new connections did not help: only a new process may. */
  readonly beyondHelp: boolean;
  /** Connections replaced because calls were stuck. */
  readonly renewals: number;
  /** Reads waiting for a slot. */
  readonly waitingReads: number;
  /** Open calls, by kind. */
  openCalls(): { readonly read: number; readonly subscription: number; readonly append: number };
}

export const EVENT_STORE_CONNECTION = Symbol('EventStoreConnection');
