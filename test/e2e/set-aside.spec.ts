import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { uuid5 } from '#event-sourcing/core/event-id.js';
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
  .../ops (parked .+) --reason/.exec(advice)![1]!.split(' '),
  ...['--reason', 'INC-42', '--yes'],
];

it('An event is set aside only with --yes; before, the command says what it would do, and whether a newer version may understand it', async () => {
  const book = `workspace-${operated.customer.workspaceId}`;
  const newer = `${book}@${await forger.appendTo(book, 'WorkspaceRenamed', { name: 'New' }, true)}`;
  const command = ['parked', 'set-aside', newer, '--reason', 'INC-42'];
  const listed = async () =>
    ((await operated.stack.ops(['parked', 'list'])) as { setAside: { stream: string }[] }).setAside.filter(
      ({ stream }) => stream === book,
    );
  expect(await operated.stack.ops(command)).toMatchObject({
    event: newer,
    consumers: null,
    outcome: 'not_set_aside',
    isOfNewer: true,
  });
  expect(await listed()).toEqual([]);
  expect(await operated.stack.ops([...command, '--yes'])).toMatchObject({
    event: newer,
    outcome: 'set_aside',
  });
  // A command that ended after its decision is finished by a repetition.
  await operated.stack.ops([...command, '--yes']);
  expect(await listed()).toHaveLength(1);
});

it('An event that can be read, and that nothing has stopped at, cannot be set aside', async () => {
  const book = `credits-${operated.customer.workspaceId}`;
  expect(
    await operated.stack.runOps(['parked', 'set-aside', `${book}@0`, '--reason', 'INC-42', '--yes']),
  ).toMatchObject({ code: 1, stderr: expect.stringContaining('can be read') });
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
