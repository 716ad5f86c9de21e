import { CommandExecutor } from '@app/event-sourcing/handling/command-executor.js';
import type { EventStore } from '@app/event-sourcing/store/event-store.js';
import { scopedEventStore } from '@app/event-sourcing/store/scoped-event-store.js';
import { webhookContentEvents } from './contracts/events.js';
import { webhookContentDecider } from './domain/webhook-content/webhook-content.decider.js';

/** Runs commands on `webhookContent-<workspaceId>` streams only. */
export const createWebhookContentExecutor = (store: EventStore) =>
  new CommandExecutor(
    scopedEventStore(store, [webhookContentEvents.category]),
    webhookContentEvents,
    webhookContentDecider,
  );

export type WebhookContentExecutor = ReturnType<typeof createWebhookContentExecutor>;
export const WEBHOOK_CONTENT_EXECUTOR = Symbol('WebhookContentExecutor');
