import { expect, it } from '@jest/globals';
import { CorrectionOffice } from '../../test/correction-office.js';
import { FindLedgerEntries } from '../contracts/index.js';
import { FindEntriesHandler } from './find-entries.js';

it('Entries are found by their reference and by their correction, with both operators', async () => {
  const office = await CorrectionOffice.open();
  await office.agree(office.proposed({ amount: 20 }, { amount: 7, workspaceId: 'ws_2' }));
  const find = (text: string) => new FindEntriesHandler(office.store).execute(new FindLedgerEntries(text));
  const signed = { actor: 'operator:ada', approvedBy: 'grace', correctionId: 'c1' };
  const both = [
    { ...signed, workspaceId: 'ws_1', credits: 20 },
    { ...signed, workspaceId: 'ws_2', credits: 7 },
  ];
  expect(await find('INC-42')).toMatchObject(both);
  expect(await find('c1')).toMatchObject(both);
  expect(await find('c2')).toEqual([]);
});
