import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { FIRST_READING, lostDocuments } from '../publications/lost-documents.js';
import { failure, ok, type Finding } from './finding.js';

/** Published versions compared in one run. A service with more gets another part of them each time. */
const LOOKED_AT = 20_000;

/** Published documents whose rows were deleted. */
export const checkDocuments = async (pool: Pool, mostLookedAt = LOOKED_AT): Promise<Finding> => {
  const all = await lostDocuments(pool, FIRST_READING, mostLookedAt);
  const seen = all.last === null ? all : await lostDocuments(pool, randomUUID(), mostLookedAt);
  const lost = [...new Map([...all.lost, ...seen.lost].map((one) => [one.readingId, one])).keys()];
  const [first] = lost;
  if (first === undefined)
    return ok('documents', all.last === null ? 'all formats are stored' : 'those looked at have all formats');
  return failure(
    'documents',
    `${lost.length} readings lack a published document, such as ${first}: rows were deleted`,
    'ops publications remake --all shows which can be made again with the same bytes; add --yes.',
  );
};
