import { shape } from '@app/event-sourcing/core/event.js';

export const readingRequested = shape;
