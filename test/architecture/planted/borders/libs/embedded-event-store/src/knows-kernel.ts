// caught by: embedded-event-store-stands-alone
export { digest } from '@app/event-sourcing/core/event.js';
