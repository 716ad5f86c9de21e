import { uuid5 } from '#event-sourcing/core/event-id.js';

/** `art_` and a UUID: the same for every attempt at a version. */
export const artifactIdOf = (readingId: string, version: number): string =>
  `art_${uuid5(readingId, 'artifact', String(version))}`;
