import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ada, CorrectionOffice, eve } from '../../../test/correction-office.js';

const MOST = 1_000;
const HOUR_MS = 3_600_000;
let office: CorrectionOffice;

beforeEach(async () => {
  office = await CorrectionOffice.open();
});

afterEach(() => {
  jest.restoreAllMocks();
});

const proposal = (id: string, who = ada) => office.proposedAs(id, [{ amount: MOST, reference: id }], who);
/** Ada proposes 1,000 credits; 5,000 a day are allowed. */
const propose = (id: string) => office.record(proposal(id));
const refused = (used: number) => ({
  refusal: { code: 'above_limit', limit: 'CORRECTION_DAILY_CREDITS', value: 5_000, credits: MOST, used },
});

describe('The limit of a day', () => {
  it('counts proposals that are open or booked, and no others', async () => {
    const [one, two] = [proposal('c1'), proposal('c2')];
    for (const each of [one, two]) await office.record(each);
    for (const id of ['c3', 'c4', 'c5']) await propose(id);
    expect(await propose('c6')).toMatchObject(refused(5_000));
    await office.record(office.withdrawn(one));
    expect(await propose('c6')).toMatchObject({ outcome: 'recorded' });
    expect(await propose('c7')).toMatchObject(refused(5_000));
    await office.record(office.approved(two));
    await office.book('c2');
    expect(await propose('c7')).toMatchObject(refused(5_000));
    office.now += 23 * HOUR_MS;
    expect(office.findings()).toEqual([]);
  });

  it('counts a proposal once that is made again after its withdrawal', async () => {
    for (let time = 0; time < 7; time += 1) {
      office.now += 1;
      const again = proposal('c1');
      expect(await office.record(again)).toMatchObject({ outcome: 'recorded' });
      if (time < 6) await office.record(office.withdrawn(again));
    }
    for (const id of ['c2', 'c3', 'c4', 'c5'])
      expect(await propose(id)).toMatchObject({ outcome: 'recorded' });
    expect(await propose('c6')).toMatchObject(refused(5_000));
  });

  it('counts what withdrawn proposals have booked, of this correction and of others', async () => {
    const notBefore = '2099-01-01T00:00:00.000Z';
    const last = { amount: 1, notBefore };
    for (const amount of [999, -999])
      for (const workspaceId of ['ws_1', 'ws_2']) {
        office.now += 1;
        const part = office.proposed({ amount, workspaceId }, { ...last, reversesEventId: `${office.now}` });
        expect(await office.record(part)).toMatchObject({ outcome: 'recorded' });
        expect(await office.record(office.approved(part))).toMatchObject({ outcome: 'recorded' });
        await office.book();
        await office.record(office.withdrawn(part));
      }
    expect(office.entries()).toHaveLength(4);
    expect(await propose('c2')).toMatchObject({ outcome: 'recorded' });
    expect(await propose('c3')).toMatchObject(refused(4_996));
    const again = office.proposed({ amount: MOST, reversesEventId: 'e1', notBefore });
    expect(await office.record(again)).toMatchObject(refused(4_996));
  });

  it('holds for commands that run at once', async () => {
    const ids = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8'];
    const outcomes = (await Promise.all(ids.map(propose))).map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => outcome === 'recorded').length).toBeLessThanOrEqual(5);
    expect(outcomes).toContain('refused');
  });

  it('counts nothing of a command that died before it recorded the signature', async () => {
    const append = office.store.append.bind(office.store);
    office.store.append = (stream, ...rest) =>
      stream.startsWith('correction-') ? Promise.reject(new Error('killed')) : append(stream, ...rest);
    for (const id of ['c1', 'c2', 'c3', 'c4', 'c5']) await expect(propose(id)).rejects.toThrow('killed');
    office.store.append = append;
    expect(await propose('c6')).toMatchObject(refused(5_000));
    office.now += 60_000;
    expect(await propose('c6')).toMatchObject({ outcome: 'recorded' });
  });

  it('holds for a command that froze after its count: it records nothing, and may be repeated', async () => {
    for (const id of ['c1', 'c2', 'c3', 'c4']) await propose(id);
    const append = office.store.append.bind(office.store);
    office.store.append = async (stream, ...rest) => {
      const appended = await append(stream, ...rest);
      if (!stream.startsWith('correctionday-')) return appended;
      office.store.append = append;
      office.now += 31_000;
      jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 31_000);
      expect(await propose('c6')).toMatchObject({ outcome: 'recorded' });
      return appended;
    };
    expect(await propose('c5')).toMatchObject({ outcome: 'refused', refusal: { code: 'too_slow' } });
    expect(await propose('c5')).toMatchObject(refused(5_000));
  });

  it('is of one operator, whatever others sign', async () => {
    for (const id of ['c1', 'c2', 'c3', 'c4', 'c5']) await propose(id);
    expect(await office.record(proposal('c6', eve))).toMatchObject({ refusal: { code: 'not_trusted' } });
    office.now += 24 * HOUR_MS;
    expect(await propose('c7')).toMatchObject({ outcome: 'recorded' });
  });
});
