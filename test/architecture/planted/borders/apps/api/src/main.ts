import { readingRequested } from '@app/readings/contracts/events.js';
import { ReadingsModule } from '@app/readings/readings.module.js';

export const start = (): unknown => [ReadingsModule, readingRequested];
