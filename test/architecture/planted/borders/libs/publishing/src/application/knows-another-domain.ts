// caught by: module-border
import { reading } from '@app/readings/domain/reading.js';

export const known = reading;
