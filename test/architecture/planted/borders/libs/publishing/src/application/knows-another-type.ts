// caught by: module-border
import type { Reading } from '@app/readings/domain/reading.js';

export type Known = Reading;
