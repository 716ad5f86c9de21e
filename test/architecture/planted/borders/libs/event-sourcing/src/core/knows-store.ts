// caught by: kernel-core-is-plain-typescript
export type { EventStore } from '../store/event-store.js';
