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
  it('has 500 entries at most', async () => {
    const message = expect.stringMatching(/^It has 501 entries, and 500 is the most/);
    const refusal = { code: 'too_large', message };
    expect(await office.record(office.proposed(...entries(501)))).toMatchObject({ refusal });
  });

  it('is refused before it is recorded when its text is too long for one append', async () => {
    const refusal = { code: 'too_large', message: expect.stringMatching(/bytes, and 950000 is the most/) };
    const workspaces = entries(250, 4_000, { workspaceId: 'ws_2' });
    const proposal = office.proposed(...workspaces, ...entries(250, 4_000));
    expect(await office.record(proposal)).toMatchObject({ refusal });
    expect(appended).toEqual([]);
  });

  it('is refused when the entries of one book are too large for one append', async () => {
    const refusal = { code: 'book_too_large', message: expect.stringMatching(/^The entries of ws_1 have /) };
    expect(await office.record(office.proposed(...entries(500, 1_500)))).toMatchObject({ refusal });
    expect(appended).toEqual([]);
  });

  it('may have as many as one append takes', async () => {
    expect(await office.agree(office.proposed(...entries(500)))).toMatchObject({ outcome: 'booked' });
    expect(Math.max(...appended)).toBeLessThan(MEBIBYTE);
  });
});
