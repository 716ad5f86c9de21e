import { beforeEach, describe, expect, it } from '@jest/globals';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { CorrectionOffice } from '../../../test/correction-office.js';

const UNSIGNED = 'no two operators signed this entry';
let office: CorrectionOffice;
let forged: StoredEvent;

beforeEach(async () => {
  office = await CorrectionOffice.open();
  forged = await office.bookUnsigned('ws_1', 50);
});

/** Ends an entry with a correction that two operators sign. */
const reverse = (correctionId: string, { id }: StoredEvent, amount: number) =>
  office.correct(correctionId, { amount, reversesEventId: id });

describe('An entry that nobody signed', () => {
  it('is a finding until signed corrections take back all of it, and then names the last of them', async () => {
    expect(await office.report()).toMatchObject({ findings: [{ message: UNSIGNED }], compensated: [] });
    await reverse('c1', forged, -20);
    expect(await office.report()).toMatchObject({ findings: [{ message: UNSIGNED }], compensated: [] });
    await reverse('c2', forged, -30);
    expect(await office.report()).toMatchObject({
      findings: [],
      compensated: [
        { stream: forged.stream, revision: forged.revision, message: UNSIGNED, compensatedBy: 'c2' },
      ],
    });
  });

  it('stays a finding after a correction that nobody signed, or that names another entry', async () => {
    await office.correct('c1', { amount: -50 });
    await office.correct('c2', { amount: 50 });
    await office.bookUnsigned('ws_1', -50, forged.id);
    expect(await office.findings()).toEqual([UNSIGNED, UNSIGNED]);
    expect((await office.report()).compensated).toEqual([]);
  });

  it('can be compensated though its forger reversed it too: that entry and its reversal are reversed', async () => {
    const own = await office.bookUnsigned('ws_1', -50, forged.id);
    await reverse('c1', own, 50);
    expect(await office.findings()).toEqual([UNSIGNED, UNSIGNED]);
    await reverse('c2', office.entries().at(-1)!, -50);
    expect(await office.report()).toMatchObject({
      findings: [],
      compensated: [{ compensatedBy: 'c2' }, { compensatedBy: 'c2' }],
    });
  });

  it('opens no way for a later one: each needs a signature after it', async () => {
    await reverse('c1', forged, -50);
    const again = await office.bookUnsigned('ws_1', 50, office.entries().at(-1)!.id);
    expect(await office.findings()).toEqual([UNSIGNED]);
    await reverse('c2', again, -50);
    expect(await office.report()).toMatchObject({ findings: [], compensated: [{}, { compensatedBy: 'c2' }] });
  });
});
