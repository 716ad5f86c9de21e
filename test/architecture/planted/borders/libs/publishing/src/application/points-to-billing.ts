// caught by: publishing-points-one-way
import { opened } from '@app/billing/contracts/events.js';

export const known = opened;
