import { expect, it } from '@jest/globals';
import { linesIn, operatorsIn, verifyExport } from '../../../../../tools/verify-ledger.mjs';
import { altered, exportOf, rechained } from '../../../test/book.js';
import { CorrectionOffice } from '../../../test/correction-office.js';
import { ada, OPERATORS_SETTING } from '../../../test/operators.js';

const office = await CorrectionOffice.open();
await office.correct('c1', { amount: 20 });
const forged = await office.bookUnsigned('ws_1', 50);
const STREAM = 'credits-ws_1';
const events = () => office.store.log.filter(({ stream }) => stream === STREAM);

/** What both verifiers find of a book. */
const found = async (book = events(), operators = OPERATORS_SETTING) => {
  const text = await exportOf(rechained(book));
  const alone = verifyExport(linesIn([Buffer.from(text)]), { operators: operatorsIn(operators) });
  const own = await office.findings(book.filter(({ type }) => type === 'CreditsAdjusted'));
  const messages = alone.findings.map(({ message }) => message);
  return { alone, own, messages };
};

it('The auditor’s file finds the entry that nobody approved, as the service does, until it is compensated', async () => {
  const before = await found();
  expect(before.messages).toEqual(['no two operators signed this entry']);
  expect(before.alone.findings).toMatchObject([
    { field: 'facts.data.signed', revision: String(forged.revision) },
  ]);
  expect(before.own).toEqual(before.messages);
  await office.correct('c2', { amount: -50, reversesEventId: forged.id });
  const after = await found();
  expect([after.messages, after.own]).toEqual([[], []]);
  expect(after.alone).toMatchObject({
    ok: true,
    corrections: { checked: 3, compensated: [{ revision: String(forged.revision), by: 'c2' }] },
  });
});

it.each([
  [{ reason: 'another' }, 'the signature of ada does not fit this entry'],
  [{ reference: 'INC-1' }, 'the signature of ada does not fit this entry'],
  [{ approvedBy: 'eve' }, 'eve, who is to have signed this entry, is no operator'],
  [{ approvedBy: 'ada' }, 'ada proposed and approved this entry alone'],
  [{ signed: undefined }, 'no two operators signed this entry'],
])('Both find an entry that was changed in %p, with a chain that fits', async (change, message) => {
  const book = events();
  const index = book.findIndex(({ type }) => type === 'CreditsAdjusted');
  const data = JSON.parse(JSON.stringify(altered(book[index]!, change).data)) as object;
  const { messages, own } = await found(book.with(index, { ...book[index]!, data }));
  expect(messages).toEqual([message]);
  expect(own).toEqual([message]);
});

it('Keys that are retired prove what they signed, and without keys nothing is checked', async () => {
  const retired = OPERATORS_SETTING.replaceAll(/,|$/g, ':retired,');
  expect((await found(events(), retired)).messages).toEqual([]);
  const lines = linesIn([Buffer.from(await exportOf(events()))]);
  expect(verifyExport(lines)).toMatchObject({ ok: true, corrections: null });
  expect(() => operatorsIn('ada')).toThrow('is not <name>:<public key>');
  expect(() => operatorsIn(`ada:${ada.publicKey},grace:${ada.publicKey}`)).toThrow('same key');
});
