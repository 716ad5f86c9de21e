import { beforeEach, describe, expect, it } from '@jest/globals';
import { linesIn, operatorsIn, verifyExport } from '../../../../tools/verify-ledger.mjs';
import { exportOf, rechained } from '../../test/book.js';
import { CorrectionOffice } from '../../test/correction-office.js';
import { OPERATORS_SETTING } from '../../test/operators.js';

let office: CorrectionOffice;

beforeEach(async () => {
  office = await CorrectionOffice.open();
});

describe('An unsigned entry with the id of the pack that operators are about to refund', () => {
  it('stays a finding after the refund, whose value stays a refund', async () => {
    const pack = await office.buyPack();
    const refund = { amount: -200, reversesEventId: pack, grantId: 'pack:o1:sprint' };
    const proposal = office.proposedAs('c1', [refund], undefined, 'pack_refund');
    expect((await office.record(proposal)).outcome).toBe('recorded');
    // Between proposal and approval, a forger appends as many credits under the id of the pack.
    Object.assign(await office.bookUnsigned('ws_1', 200), { id: pack });
    const unsigned = 'no two operators signed this entry';
    expect(await office.findings()).toEqual([unsigned]);

    const answer = await office.record(office.approved(proposal));

    const book = office.store.log.filter(({ stream }) => stream === 'credits-ws_1');
    const lines = linesIn([Buffer.from(await exportOf(rechained(book)))]);
    const alone = verifyExport(lines, { operators: operatorsIn(OPERATORS_SETTING) });
    const value = 'correction' in answer ? answer.correction.entries[0]!.value : null;
    expect({
      value,
      own: await office.findings(),
      alone: alone.findings.map(({ message }) => message),
    }).toEqual({
      value: { as: 'refunds', of: 'pack:o1:sprint', cents: 9_900 },
      own: [unsigned],
      alone: [unsigned],
    });
  });
});
