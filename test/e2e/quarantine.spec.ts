import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { uuid5 } from '@app/event-sourcing/core/event-id.js';
import { Random } from '../support/random.js';
import { Forger } from './support/malformed-events.js';
import { operatedStack, type Finding } from './support/operated-stack.js';

const operated = operatedStack();
let forger: Forger;

beforeAll(() => {
  forger = new Forger(operated.stack.eventStoreUrl, new Random(1));
});
afterAll(() => forger.close());

const findings = async (check: string): Promise<readonly Finding[]> => {
  const { findings: all } = await operated.json(['doctor']);
  return (all as Finding[]).filter((one) => one.check === check && one.level === 'failure');
};
/** The command of a finding, as somebody types it. */
const commandOf = ({ advice }: Finding): string[] => [
  .../ops (quarantine .+) --reason/.exec(advice)![1]!.split(' '),
  ...['--reason', 'INC-42'],
];

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
