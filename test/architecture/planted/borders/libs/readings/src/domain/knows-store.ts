// caught by: domain-knows-no-outer-layer
export type { EventStore } from '@app/event-sourcing/store/event-store.js';
