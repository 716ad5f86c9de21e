import type { BookSnapshots } from '../src/book-snapshots.js';

/** No book has a snapshot. */
export const NO_SNAPSHOTS: Pick<BookSnapshots, 'streams' | 'read'> = {
  streams: () => Promise.resolve([]),
  read: () => Promise.resolve(null),
};
