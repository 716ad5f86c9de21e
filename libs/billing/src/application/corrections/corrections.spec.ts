import { beforeEach, describe, expect, it } from '@jest/globals';
import { instant } from '@app/event-sourcing/core/clock.js';
import { CorrectionOffice, type Proposed } from '../../../test/correction-office.js';

let office: CorrectionOffice;
const agree = async (proposal: Proposed): Promise<void> => {
  expect(await office.record(proposal)).toMatchObject({ outcome: 'recorded' });
  expect(await office.record(office.approved(proposal))).toMatchObject({ outcome: 'recorded' });
};

beforeEach(async () => {
  office = await CorrectionOffice.open();
});

describe('an approved correction', () => {
  it('is booked once, by any number of processes and however often', async () => {
    await agree(office.proposed({ amount: 20 }, { amount: 5 }));
    const results = await Promise.all([office.book(), office.book(), office.book()]);
    expect([...results, await office.book()].map(({ outcome }) => outcome)).toEqual(Array(4).fill('booked'));
    expect(office.entries()).toHaveLength(2);
    expect(office.findings()).toEqual([]);
  });

  it('is not booked again when the process dies before it notes the booking', async () => {
    await agree(office.proposed({ amount: 20 }));
    const append = office.store.append.bind(office.store);
    office.store.append = (stream, ...rest) =>
      stream.startsWith('correction-') ? Promise.reject(new Error('killed')) : append(stream, ...rest);
    await expect(office.book()).rejects.toThrow('killed');
    office.store.append = append;
    expect(office.entries()).toHaveLength(1);
    expect(await office.book()).toMatchObject({ outcome: 'booked', correction: { status: 'booked' } });
    expect(office.entries()).toHaveLength(1);
  });

  it('books entries of a later day on that day', async () => {
    const notBefore = '2026-04-12T00:00:00.000Z';
    await agree(office.proposed({ amount: 20 }, { amount: 7, notBefore }));
    expect(await office.book()).toMatchObject({ outcome: 'incomplete', later: [1], refusals: [] });
    office.now = Date.parse(notBefore);
    expect(await office.book()).toMatchObject({ outcome: 'booked', correction: { status: 'booked' } });
    expect(office.entries().map(({ data }) => (data as { amount: number }).amount)).toEqual([20, 7]);
    expect(office.findings()).toEqual([]);
  });

  it('leaves a book alone that refuses one of its entries, and may be run again', async () => {
    const notBefore = instant(office.now);
    await agree(
      office.proposed(
        { amount: 20 },
        { amount: 9, workspaceId: 'ws_2', notBefore },
        { amount: -30, workspaceId: 'ws_2', notBefore },
      ),
    );
    expect(await office.book()).toMatchObject({
      outcome: 'incomplete',
      correction: { status: 'approved', entries: [{ booked: true }, { booked: false }, { booked: false }] },
      refusals: [{ workspaceId: 'ws_2', code: 'insufficient', required: 30, available: 9 }],
    });
  });
});
