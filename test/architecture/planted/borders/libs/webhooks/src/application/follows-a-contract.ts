import { readingRequested } from '@app/readings/contracts/events.js';

export const followed = readingRequested;
