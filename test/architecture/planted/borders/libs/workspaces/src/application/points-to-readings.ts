// caught by: workspaces-points-one-way
import type { readingRequested } from '@app/readings/contracts/events.js';

export type Known = typeof readingRequested;
