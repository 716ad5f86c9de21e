import { describe, expect, it } from '@jest/globals';
import type { StoredEvent } from '../core/event.js';
import { sql } from '../projections/statement.js';
import { selectEvents } from '../core/event-catalogue.js';
import { addedToAppend, tallyEvents } from '../testing/tally.js';
import { command, defineProcess, processConsumer, statement } from './process.js';

const stored = (ref: string): StoredEvent => ({
  ...addedToAppend(`id-${ref}`, ref),
  stream: 'tally-1',
  revision: 0n,
  position: 100n,
});

const mailing = defineProcess({
  name: 'tally.mailing',
  catalogues: [selectEvents(tallyEvents, 'Added')],
  react: ({ data }) => [command({ mail: data.ref }), statement(sql`insert into job values (${data.ref})`)],
});

describe('processConsumer', () => {
  it('dispatches commands, and runs statements in the transaction of the checkpoint', async () => {
    const sent: string[] = [];
    const consumer = processConsumer(mailing, async ({ mail }) => sent.push(mail));
    await consumer.dispatch!([stored('a'), stored('b')]);
    expect(sent).toEqual(['a', 'b']);
    const steps = consumer.steps([stored('a')]);
    expect(steps).toEqual([expect.objectContaining({ text: 'insert into job values ($1)', values: ['a'] })]);
  });

  it('follows the events that it reacts to, and those that it cannot read', () => {
    const big = defineProcess({
      name: 'tally.big',
      catalogues: [selectEvents(tallyEvents, 'Added')],
      react: ({ data }) => (data.by > 1 ? [command({ mail: data.ref })] : []),
    });
    const consumer = processConsumer(big, () => Promise.resolve());
    const events = [
      { ...stored('a'), data: { by: 2, ref: 'a' } },
      stored('b'),
      { ...stored('c'), type: 'Carried' },
      { ...stored('d'), data: 'not what Added holds' },
    ];
    expect(events.map((event) => consumer.follows!(event))).toEqual([true, false, false, true]);
  });

  it('tries every command of a batch before it fails because of one', async () => {
    const sent: string[] = [];
    const consumer = processConsumer(mailing, async ({ mail }) => {
      if (mail === 'a') throw new RangeError('no such address');
      sent.push(mail);
    });
    await expect(consumer.dispatch!([stored('a'), stored('b'), stored('c')])).rejects.toThrow(RangeError);
    expect(sent).toEqual(['b', 'c']);
  });
});
