import { readingRequested } from '@app/readings/contracts/events.js';
import { workspaceOpened } from '@app/workspaces/contracts/events.js';

export const followed = [readingRequested, workspaceOpened];
