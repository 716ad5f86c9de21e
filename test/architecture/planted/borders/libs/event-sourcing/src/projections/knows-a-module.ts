// caught by: kernel-knows-no-feature
export { readingRequested } from '@app/readings/contracts/events.js';
