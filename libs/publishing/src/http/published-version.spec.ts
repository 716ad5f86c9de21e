import { describe, expect, it } from '@jest/globals';
import type { Request } from 'express';
import { setTimeout as delay } from 'node:timers/promises';
import { setStanding } from '#platform/auth/authentication.js';
import { Problem } from '#platform/http/problem.js';
import type { ReadingSummary } from '#readings/contracts/index.js';
import { PublicationQuery } from '../application/publications.js';
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
/** A caller who stays, and whose key ends meanwhile or stands. */
const staying = (authenticate = async (): Promise<void> => undefined) => {
  const req = {} as Request;
  setStanding(req, authenticate);
  return { destroyed: false, req };
};
const STAYS = staying();
const versions = new PublishedVersion({} as never, publications as never, 0);

it.each([
  ['that the reading shows, although the publications are behind', 3, undefined, 3],
  ['that is newer than the reading shows', 1, undefined, 2],
  ['that the publications show, and not yet the reading', null, undefined, 2],
  ['that the caller asks for', 3, 1, 1],
])('The version of a document is the one %s', async (_, shown, asked, version) => {
  expect(await versions.require(reading(shown), asked, STAYS)).toBe(version);
});

describe('a version that is due', () => {
  const ROUNDS = 5;
  const NOT_YET = { version: null, may_be_behind: false };

  /**
   * @param looks what the rows show at each look; the last one stays
   * @param inLog what the log has published then
   * @param lookMs how long a look at a row takes
   */
  const publishing = (
    looks: readonly { version: number | null; may_be_behind: boolean }[],
    inLog: readonly number[] = [],
    lookMs = 0,
  ) => {
    const reads = { ofRows: 0, ofStream: 0 };
    const pool = {
      query: async () => {
        if (lookMs > 0) await delay(lookMs);
        return { rows: [looks[Math.min((reads.ofRows += 1), looks.length) - 1]] };
      },
    };
    const load = async () => {
      reads.ofStream += 1;
      const published = reads.ofStream === 1 ? [] : inLog;
      const versions = new Map(published.map((version) => [version, {}]));
      return { state: { published: versions, pending: new Map(), failed: new Map() } };
    };
    const query = new PublicationQuery(pool as never, { load } as never);
    const queries = { execute: async () => reading(null) };
    const version = new PublishedVersion(queries as never, query, ROUNDS * 100);
    return { reads, version };
  };

  it('is looked for in the log first and last, and in its row meanwhile', async () => {
    const { reads, version } = publishing([NOT_YET]);
    await expect(version.require(reading(null), undefined, STAYS)).rejects.toMatchObject({
      code: 'document_not_available',
    });
    expect(reads.ofStream).toBe(2);
    expect(reads.ofRows).toBeGreaterThan(2);
  });

  it('is found at the end in the log alone, although its row stays behind', async () => {
    const { version } = publishing([NOT_YET], [1]);
    expect(await version.require(reading(null), undefined, STAYS)).toBe(1);
  });

  it('is not the one of the row while a later one is made: the log decides', async () => {
    const { version } = publishing([NOT_YET, { version: 1, may_be_behind: true }], [1, 2]);
    expect(await version.require(reading(null), undefined, STAYS)).toBe(2);
  });

  it('is not given to a caller whose key ended meanwhile', async () => {
    const ended = staying(async () => {
      throw new Problem('unauthenticated');
    });
    const { version } = publishing([NOT_YET, { version: 1, may_be_behind: false }]);
    await expect(version.require(reading(null), undefined, ended)).rejects.toMatchObject({
      code: 'unauthenticated',
    });
  });

  it('is looked for no longer once the caller has left', async () => {
    const { reads, version } = publishing([NOT_YET]);
    const leaves = {
      req: STAYS.req,
      get destroyed() {
        return reads.ofRows === 2;
      },
    };
    await expect(version.require(reading(null), undefined, leaves)).rejects.toMatchObject({
      code: 'document_not_available',
    });
    expect(reads).toEqual({ ofStream: 1, ofRows: 2 });
  });
});
