import { beforeEach, describe, expect, it } from '@jest/globals';
import { CorrectionOffice, type Proposed } from '../../test/correction-office.js';
import { eve } from '../../test/operators.js';
import { FindCorrections, type CorrectionEvent } from '../contracts/index.js';

let office: CorrectionOffice;
const forge = (event: CorrectionEvent) => office.forge('correction-c1', event);

beforeEach(async () => {
  office = await CorrectionOffice.open();
});

describe('an approved correction', () => {
  it('is booked once, by any number of processes and however often', async () => {
    const proposal = office.proposed({ amount: 20 }, { amount: 5, workspaceId: 'ws_2' });
    await office.record(proposal);
    const approve = () => office.record(office.approved(proposal));
    const results = await Promise.all([approve(), approve(), approve()]);
    expect([...results, await approve()].map(({ outcome }) => outcome)).toEqual(Array(4).fill('booked'));
    expect(office.entries()).toMatchObject([{ stream: 'credits-ws_1' }, { stream: 'credits-ws_2' }]);
    expect(await office.findings()).toEqual([]);
  });

  it('leaves a book alone that refuses one of its entries, and may be run again until it expires', async () => {
    const proposal = office.proposed(
      { amount: 20 },
      { amount: 9, workspaceId: 'ws_2' },
      { amount: -9, workspaceId: 'ws_2' },
    );
    await office.record(proposal);
    const spend = { amount: -9, workspaceId: 'ws_2' };
    const append = office.store.append.bind(office.store);
    office.store.append = (stream, ...rest) =>
      stream === 'credits-ws_2' ? Promise.reject(new Error('killed')) : append(stream, ...rest);
    await expect(office.record(office.approved(proposal))).rejects.toThrow('killed');
    office.store.append = append;
    office.now += 86_400_000;
    expect(await office.record(office.approved(proposal))).toMatchObject({
      outcome: 'refused',
      refusal: 'The correction is expired',
    });
    expect(office.entries()).toMatchObject([{ stream: 'credits-ws_1', data: { amount: 20 } }]);
    expect(await office.record(office.proposedAs('c2', [spend]))).toMatchObject({
      refusal: expect.stringContaining('only 0 credits'),
    });
  });

  it('is listed with the others, newest first', async () => {
    await office.correct('c1', { amount: 20 });
    await office.record(office.proposedAs('c2', [{ amount: 7 }]));
    await office.record({ type: 'CorrectionRejected', data: { correctionId: 'c2', reason: 'wrong' } });
    expect(await office.process().find.execute(new FindCorrections())).toMatchObject([
      { correctionId: 'c2', status: 'rejected', rejected: 'wrong', approvedBy: null },
      { correctionId: 'c1', status: 'booked', proposedBy: 'ada', approvedBy: 'grace' },
    ]);
  });
});

describe('somebody with the event store’s login and no key', () => {
  let genuine: Proposed;
  beforeEach(() => {
    genuine = office.proposed({ amount: 20 });
  });

  it('cannot have an approval booked that they forge', async () => {
    await office.record(genuine);
    const { data } = office.approved(genuine, eve);
    await forge({ type: 'CorrectionApproved', data: { ...data, operator: 'grace' } });
    expect(await office.record(office.approved(genuine))).toMatchObject({
      outcome: 'refused',
      refusal: 'The signature of grace does not fit',
    });
    expect(office.entries()).toEqual([]);
  });

  it('cannot have a proposal approved that they forge', async () => {
    const { data } = office.proposedAs('c1', [{ amount: 500 }], eve);
    const forged = { type: 'CorrectionProposed', data: { ...data, operator: 'ada' } } as const;
    await forge(forged);
    expect(await office.record(office.approved(forged))).toMatchObject({
      outcome: 'refused',
      refusal: 'The signature of ada does not fit',
    });
    expect(office.entries()).toEqual([]);
  });
});

describe('a correction of many entries', () => {
  /** EventStoreDB's limit of one append, data, metadata and types together. */
  const MEBIBYTE = 1_048_576;
  const entries = (count: number, reasonLength: number) =>
    Array.from({ length: count }, () => ({ amount: 1, reason: 'x'.repeat(reasonLength) }));
  /** Bytes of each append. */
  let appended: number[];

  beforeEach(() => {
    appended = [];
    const append = office.store.append.bind(office.store);
    office.store.append = async (stream, expected, events) => {
      const sizes = events.map(
        ({ type, data, metadata }) =>
          2 * type.length + JSON.stringify(data).length + JSON.stringify(metadata).length,
      );
      appended.push(sizes.reduce((sum, size) => sum + size, 0));
      return append(stream, expected, events);
    };
  });

  it('is refused before it is recorded when the entries of one book are too large for one append', async () => {
    const refusal = expect.stringMatching(/^The entries of ws_1 have \d+ bytes, and 950000 is the most/);
    expect(await office.record(office.proposed(...entries(500, 1_500)))).toMatchObject({ refusal });
    expect(appended).toEqual([]);
  });

  it('may have 500 of them', async () => {
    expect(await office.agree(office.proposed(...entries(500, 10)))).toMatchObject({ outcome: 'booked' });
    expect(Math.max(...appended)).toBeLessThan(MEBIBYTE);
  });
});
