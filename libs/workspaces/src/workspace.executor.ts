import { CommandExecutor } from '@app/event-sourcing/handling/command-executor.js';
import { scopedEventStore } from '@app/event-sourcing/store/scoped-event-store.js';
import type { EventStore } from '@app/event-sourcing/store/event-store.js';
import { workspaceEvents } from './contracts/events.js';
import { workspaceDecider } from './domain/workspace/workspace.decider.js';

/** Runs commands on `workspace-<id>` streams, and on no others. */
export const createWorkspaceExecutor = (store: EventStore) =>
  new CommandExecutor(scopedEventStore(store, [workspaceEvents.category]), workspaceEvents, workspaceDecider);

export type WorkspaceExecutor = ReturnType<typeof createWorkspaceExecutor>;
export const WORKSPACE_EXECUTOR = Symbol('WorkspaceExecutor');
