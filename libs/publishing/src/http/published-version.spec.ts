import { describe, expect, it } from '@jest/globals';
import type { ReadingSummary } from '@app/readings/contracts/index.js';
import { PublishedVersion } from './published-version.js';

/** The row of the publications has version 2, the log has 3. */
const publications = { find: async (_: string, version = 2) => version };
const reading = (documentVersion: number | null) =>
  ({
    readingId: 'r',
    status: 'completed',
    erasedAt: null,
    documentVersion,
  }) as Partial<ReadingSummary> as ReadingSummary;
const versions = new PublishedVersion({} as never, publications as never, { DOCUMENT_WAIT_MS: 0 });

describe('the newest version of a document', () => {
  it('is the one that the reading shows, although the publications are behind', async () => {
    expect(await versions.require(reading(3), undefined)).toBe(3);
  });

  it('is a newer one than the reading shows', async () => {
    expect(await versions.require(reading(1), undefined)).toBe(2);
    expect(await versions.require(reading(null), undefined)).toBe(2);
  });

  it('is not an earlier one that the caller asks for', async () => {
    expect(await versions.require(reading(3), 1)).toBe(1);
  });
});
