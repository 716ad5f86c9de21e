import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { uuid5 } from '@app/event-sourcing/core/event-id.js';
import { twoOperators, type Operator } from '../support/operators.js';
import { Random } from '../support/random.js';
import { Forger } from './support/malformed-events.js';
import { operatedStack, type Finding } from './support/operated-stack.js';

const operated = operatedStack();
let forger: Forger;
let ada: Operator;
let settings: Record<string, string>;

beforeAll(async () => {
  forger = new Forger(operated.stack.eventStoreUrl, new Random(1));
  ({ ada, settings } = await twoOperators(operated.stack));
});
afterAll(() => forger.close());

const findings = async (check: string): Promise<readonly Finding[]> => {
  const { findings: all } = await operated.json(['doctor'], settings);
  return (all as Finding[]).filter((one) => one.check === check && one.level === 'failure');
};
/** The command of a finding, as somebody types it. */
const commandOf = ({ advice }: Finding): string[] => [
  .../ops (quarantine .+) --reason/.exec(advice)![1]!.split(' '),
  ...['--reason', 'INC-42'],
];
const verified = () => operated.json(['corrections', 'verify'], settings);

it('Forged statements of operators are passed over by the commands that doctor names', async () => {
  const correctionId = 'c0ffee00-0000-4000-8000-000000000000';
  const data = { correctionId, operator: 'ada', act: 'proposed', credits: 5 };
  const today = new Date().toISOString().slice(0, 10);
  await forger.appendTo(`correctionday-${today}`, 'CorrectionCounted', data, true);
  const signature = { signedBy: { operator: 'ada', keySha256: ada.digest }, signature: 'AAAA' };
  const at = new Date().toISOString();
  const revoked = { operator: 'ada', keySha256: ada.digest, reason: 'forged', previous: '0'.repeat(64) };
  const forged = [
    await forger.appendTo('operators-register', 'OperatorRevoked', { ...revoked, ...signature, at }, true),
    await forger.appendTo(`correction-${correctionId}`, 'CorrectionProposed', { correctionId }, true),
  ];
  expect(forged).toEqual([2n, 0n]);
  const found = await findings('signed statements');
  expect(found.map(({ message }) => message.split(' ')[0])).toEqual([
    'operators-register@2',
    `correction-${correctionId}@0`,
  ]);
  expect(await verified()).toMatchObject({ code: 1, findings: [{}, {}] });
  for (const finding of found) await ada.ops(commandOf(finding));
  expect(await findings('signed statements')).toEqual([]);
  expect(await verified()).toMatchObject({ code: 0, findings: [], quarantined: 2 });
});

it('A statement that counts cannot be passed over, and doctor names a quarantine that somebody forged', async () => {
  const place = { stream: 'operators-register', revision: '0' };
  const refused = await ada.run([
    ...['quarantine', 'add', `${place.stream}@${place.revision}`],
    ...['--everywhere', '--yes', '--reason', 'to hide it'],
  ]);
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/counts: a quarantine .* no effect/),
  });
  const decision = { eventId: 'any', eventType: 'any', consumers: null, cause: 'none', until: null };
  const data = { ...place, ...decision, reason: 'to hide it' };
  await forger.appendTo('quarantine-events', 'EventQuarantined', data, true);
  const found = await findings('signed statements');
  expect(found).toMatchObject([{ message: expect.stringMatching(/^operators-register@0 .* no effect/) }]);
  const { operators } = await ada.ops<{ operators: { operator: string; status: string }[] }>([
    ...['operators', 'list'],
  ]);
  expect(operators).toMatchObject([
    { operator: 'ada', status: 'active' },
    { operator: 'grace', status: 'active' },
  ]);
  await ada.ops(commandOf(found[0]!));
  expect(await findings('signed statements')).toEqual([]);
});

it('An event that a newer version may understand is passed over only with --yes', async () => {
  const book = `workspace-${operated.customer.workspaceId}`;
  const newer = `${book}@${await forger.appendTo(book, 'WorkspaceRenamed', { name: 'New' }, true)}`;
  const add = ['quarantine', 'add', newer, '--reason', 'INC-42'];
  const refused = await operated.stack.runOps(add);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('A newer version may')]);
  expect(await operated.stack.ops(['quarantine', 'list'])).not.toMatchObject({
    quarantined: expect.arrayContaining([expect.objectContaining({ stream: book })]),
  });
  expect(await operated.stack.ops([...add, '--yes'])).toMatchObject({ event: newer, consumers: null });
});

it('An order line that cannot be read is named by doctor, whose command leads out', async () => {
  const { workspaceId } = operated.customer;
  const add = ['pack', 'add', '--workspace', workspaceId, '--pack', 'flex', '--order', 'INV-1'];
  await operated.stack.ops(add);
  const line = `orderline-${uuid5('order line', 'INV-1', 'flex')}`;
  const place = `${line}@${await forger.appendTo(line, 'OrderLineClaimed', { wrong: [true] })}`;
  const found = await findings('order lines');
  expect(found).toMatchObject([{ message: expect.stringContaining(`${place} (OrderLineClaimed)`) }]);
  await operated.stack.ops(commandOf(found[0]!));
  expect(await findings('order lines')).toEqual([]);
  expect(await operated.stack.ops(add)).toMatchObject({ outcome: 'already_purchased' });
});
