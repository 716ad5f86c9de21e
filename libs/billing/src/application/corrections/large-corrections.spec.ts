import { beforeEach, describe, expect, it } from '@jest/globals';
import { CorrectionOffice } from '../../../test/correction-office.js';

/** EventStoreDB's limit of one append, data, metadata and types together. */
const MEBIBYTE = 1_048_576;
let office: CorrectionOffice;
/** Bytes of each append. */
let appended: number[];

beforeEach(async () => {
  office = await CorrectionOffice.open();
  appended = [];
  const append = office.store.append.bind(office.store);
  office.store.append = async (stream, expected, events) => {
    const size = events.reduce(
      (sum, { type, data, metadata }) =>
        sum + 2 * type.length + JSON.stringify(data).length + JSON.stringify(metadata).length,
      0,
    );
    appended.push(size);
    if (size > MEBIBYTE) throw new Error('Maximum Append Size of 1048576 Exceeded');
    return append(stream, expected, events);
  };
});

const entries = (count: number, reasonLength = 10, more: object = {}) =>
  Array.from({ length: count }, () => ({ amount: 1, reason: 'x'.repeat(reasonLength), ...more }));

describe('a correction', () => {
  it('has 1,000 entries at most', async () => {
    const refusal = { code: 'too_large', unit: 'entries', size: 1_001, most: 1_000 };
    expect(await office.record(office.proposed(...entries(1_001)))).toMatchObject({ refusal });
  });

  it('is refused before it is recorded when its text is too long for one append', async () => {
    const refusal = { code: 'too_large', unit: 'bytes', most: 950_000 };
    const workspaces = entries(500, 2_000, { workspaceId: 'ws_2' });
    const proposal = office.proposed(...workspaces, ...entries(500, 2_000));
    expect(await office.record(proposal)).toMatchObject({ refusal });
    expect(appended).toEqual([]);
  });

  it('is refused when the entries of one book are too large for one append', async () => {
    const refusal = { workspaceId: 'ws_1', code: 'book_too_large', unit: 'bytes', most: 950_000 };
    expect(await office.record(office.proposed(...entries(1_000, 600)))).toMatchObject({ refusal });
    expect(appended).toEqual([]);
  });

  it('may have as many as one append takes', async () => {
    const proposal = office.proposed(...entries(1_000));
    for (const statement of [proposal, office.approved(proposal)])
      expect(await office.record(statement)).toMatchObject({ outcome: 'recorded' });
    expect(await office.book()).toMatchObject({ outcome: 'booked' });
    expect(Math.max(...appended)).toBeLessThan(MEBIBYTE);
  });
});
