// caught by: numerology-stands-alone
export { digest } from '@app/event-sourcing/core/event.js';
