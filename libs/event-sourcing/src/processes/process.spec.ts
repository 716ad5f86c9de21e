import { describe, expect, it } from '@jest/globals';
import type { StoredEvent } from '../core/event.js';
import { sql } from '../projections/statement.js';
import { addedToAppend, tallyEvents } from '../testing/tally.js';
import { command, processConsumer, statement, type Process } from './process.js';

const stored = (ref: string): StoredEvent => ({
  ...addedToAppend(`id-${ref}`, ref),
  stream: 'tally-1',
  revision: 0n,
  position: 100n,
});

const mailing: Process<{ mail: string }> = {
  name: 'tally.mailing',
  catalogues: [tallyEvents],
  react: (event) => {
    const { ref } = event.data as { ref: string };
    return [command({ mail: ref }), statement(sql`insert into job values (${ref})`)];
  },
};

describe('processConsumer', () => {
  it('halts at poison, because its effects may not be skipped', () => {
    expect(processConsumer(mailing, async () => undefined)).toMatchObject({
      onPoison: 'halt',
      birth: 'beginning',
    });
  });

  it('dispatches commands, and gives statements to the transaction of the checkpoint', async () => {
    const sent: string[] = [];
    const consumer = processConsumer(mailing, async ({ mail }) => sent.push(mail));
    await consumer.dispatch!([stored('a'), stored('b')]);
    expect(sent).toEqual(['a', 'b']);
    expect(consumer.steps([stored('a')])).toEqual([{ text: 'insert into job values ($1)', values: ['a'] }]);
  });

  it('tries every command of a batch before it fails for one', async () => {
    const sent: string[] = [];
    const consumer = processConsumer(mailing, async ({ mail }) => {
      if (mail === 'a') throw new RangeError('no such address');
      sent.push(mail);
    });
    await expect(consumer.dispatch!([stored('a'), stored('b'), stored('c')])).rejects.toThrow(RangeError);
    expect(sent).toEqual(['b', 'c']);
  });
});
