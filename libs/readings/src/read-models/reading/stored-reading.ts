import type { ReadingRecord } from '../../domain/reading/reading-view.js';

/** A reading as stored: its record and its sealed input. */
export interface StoredReading {
  readonly record: ReadingRecord;
  readonly sealedInput: string;
}
