import { CommandExecutor } from '#event-sourcing/handling/command-executor.js';
import { scopedEventStore } from '#event-sourcing/store/scoped-event-store.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { workspaceEvents } from './contracts/events.js';
import { workspaceDecider } from './domain/workspace/workspace.decider.js';

/** A workspace that issues and revokes many keys needs a cache: only its new events are read again. */
const CACHED_STREAMS = 64;

/** Runs commands on `workspace-<id>` streams, and on no others. */
export const createWorkspaceExecutor = (store: EventStore) =>
  new CommandExecutor(
    scopedEventStore(store, [workspaceEvents.category]),
    workspaceEvents,
    workspaceDecider,
    { cachedStreams: CACHED_STREAMS },
  );

export type WorkspaceExecutor = ReturnType<typeof createWorkspaceExecutor>;
export const WORKSPACE_EXECUTOR = Symbol('WorkspaceExecutor');
