import type { Mode } from '#event-sourcing/core/mode.js';
import { categoryOf } from '#event-sourcing/core/stream-name.js';
import { creditsEvents } from '../contracts/events.js';

/** How the tables name the mode of a book. */
export const modeOf = (livemode: boolean): Mode => (livemode ? 'live' : 'test');

export const modeOfStream = (stream: string): Mode => modeOf(categoryOf(stream) === creditsEvents.category);
