import { describe, expect, it } from '@jest/globals';
import { Problem } from '@app/platform/http/problem.js';
import { CreateReadingDto } from '../application/request-reading/request-reading.body.js';
import { readBulkBody } from './bulk-body.js';

const READINGS = 100;
const READING = {
  productId: 'theme',
  profileId: 'evan',
  locale: 'fr-FR',
  name: { firstNames: ['Anna'], middleNames: [], lastNames: ['Laurent'] },
  dateOfBirth: '1990-06-15',
  grammaticalProfile: { subjectGender: 'feminine' },
};
const readings = Array.from({ length: READINGS }, () => READING);
const lines = Buffer.from(readings.map((one) => JSON.stringify(one)).join('\n'));

describe('A bulk body', () => {
  it.each([
    ['JSON', { mode: 'all', readings }, undefined],
    ['lines', lines, 'all'],
  ])('as %s is checked in turns with other work', async (_, body, queryMode) => {
    let turns = 0;
    let isDone = false;
    const other = (): void => {
      turns += 1;
      if (!isDone) setImmediate(other);
    };
    setImmediate(other);
    const { items } = await readBulkBody(body, queryMode, CreateReadingDto);
    isDone = true;
    expect(items.map(({ checked }) => checked instanceof CreateReadingDto)).toEqual(readings.map(() => true));
    expect(turns).toBeGreaterThanOrEqual(READINGS / 20);
  });

  it('may have empty lines between its readings, and no millions of them', async () => {
    const apart = (blank: number) =>
      Buffer.from(`${JSON.stringify(READING)}${'\n'.repeat(blank)}${JSON.stringify(READING)}`);
    const { items } = await readBulkBody(apart(9_999), 'all', CreateReadingDto);
    expect(items.map(({ line }) => line)).toEqual([1, 10_000]);
    await expect(readBulkBody(apart(10_000), 'all', CreateReadingDto)).rejects.toMatchObject({
      options: { errors: [{ pointer: '', code: 'too_many' }] },
    });
  });

  it('keeps the order of its readings, those that are not valid among them', async () => {
    const mixed = readings.map((one, index) => (index % 7 === 3 ? { ...one, locale: 'de-DE' } : one));
    const { items } = await readBulkBody({ mode: 'available', readings: mixed }, undefined, CreateReadingDto);
    const refused = items.flatMap(({ checked }, index) => (checked instanceof Problem ? [index] : []));
    expect(refused).toEqual([...readings.keys()].filter((index) => index % 7 === 3));
  });
});
