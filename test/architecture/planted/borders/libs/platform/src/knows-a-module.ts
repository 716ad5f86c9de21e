// caught by: platform-knows-no-feature
export { readingRequested } from '@app/readings/contracts/events.js';
