// caught by: readings-points-one-way
export { opened } from '@app/billing/contracts/events.js';
