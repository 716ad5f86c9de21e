import { describe, expect, it, jest } from '@jest/globals';
import { Problem } from '#platform/http/problem.js';
import { CreateReadingDto } from '../application/request-reading/request-reading.body.js';
import { checkReadings, readBulk } from './bulk-body.js';

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

const json = (all: readonly unknown[]) => Buffer.from(JSON.stringify({ mode: 'all', readings: all }));
const checked = (body: Buffer, queryMode?: string) =>
  checkReadings(
    readBulk(body, queryMode !== undefined, queryMode).readings,
    CreateReadingDto,
    new AbortController().signal,
  );

describe('A bulk body', () => {
  it.each([
    ['JSON', json(readings), undefined],
    ['lines', lines, 'all'],
  ])('as %s is checked in turns with other work', async (_, body, queryMode) => {
    let turns = 0;
    let isDone = false;
    const other = (): void => {
      turns += 1;
      if (!isDone) setImmediate(other);
    };
    setImmediate(other);
    const items = await checked(body, queryMode);
    isDone = true;
    expect(items.map((item) => item.checked instanceof CreateReadingDto)).toEqual(readings.map(() => true));
    expect(turns).toBeGreaterThanOrEqual(READINGS / 20);
  });

  it('is checked no further once its caller has left', async () => {
    const departed = new AbortController();
    setImmediate(() => departed.abort(new Error('gone')));
    const { readings: sent } = readBulk(json(readings), false, undefined);
    await expect(checkReadings(sent, CreateReadingDto, departed.signal)).rejects.toThrow('gone');
  });

  it('may have empty lines between its readings, and no millions of them', async () => {
    const apart = (blank: number) =>
      Buffer.from(`${JSON.stringify(READING)}${'\n'.repeat(blank)}${JSON.stringify(READING)}`);
    const items = await checked(apart(9_999), 'all');
    expect(items.map(({ line }) => line)).toEqual([1, 10_000]);
    expect(() => readBulk(apart(10_000), true, 'all')).toThrow(
      expect.objectContaining({
        options: expect.objectContaining({
          errors: [expect.objectContaining({ pointer: '', code: 'too_many' })],
        }),
      }),
    );
  });

  it.each([
    ['JSON', (one: object) => json([one, READING]), undefined],
    ['lines', (one: object) => Buffer.from(`${JSON.stringify(one)}\n${JSON.stringify(READING)}`), 'all'],
  ])(
    'as %s refuses a reading that is larger than one alone may be, and no other',
    async (_, bodyOf, mode) => {
      const items = await checked(bodyOf({ ...READING, externalId: 'x'.repeat(16_384) }), mode);
      expect(items.map((item) => item.checked)).toEqual([
        expect.objectContaining({
          options: expect.objectContaining({
            errors: [{ pointer: '', code: 'too_long', detail: 'must have at most 16384 bytes' }],
          }),
        }),
        expect.any(CreateReadingDto),
      ]);
    },
  );

  it('has each name read once, however many brackets follow', () => {
    const parse = jest.spyOn(JSON, 'parse');
    const body = Buffer.from(String.raw`{"\u0072eading":${'[]'.repeat(1_000)}`);
    expect(() => readBulk(body, false, undefined)).toThrow(
      expect.objectContaining({ code: 'malformed_json' }),
    );
    expect(parse.mock.calls.length).toBeLessThan(10);
    parse.mockRestore();
  });

  it('has no name parsed that JSON does not know', () => {
    const parse = jest.spyOn(JSON, 'parse');
    const body = Buffer.from(`{${String.raw`"\x"`.repeat(3_000)}`);
    expect(() => readBulk(body, false, undefined)).toThrow(
      expect.objectContaining({ code: 'malformed_json' }),
    );
    expect(parse.mock.calls.length).toBeLessThan(10);
    parse.mockRestore();
  });

  it.each([
    ['names', `{${'"x":1,'.repeat(3_000)}"readings":[1]}`],
    ['lists', `{${'"readings":[],'.repeat(2_000)}"mode":"all"}`],
    ['blanks', `{"readings":[1],${' '.repeat(20_000)}"mode":"all"}`],
  ])('has at most 16 KiB beside its readings, whatever they are: %s', (_, text) => {
    expect(() => readBulk(Buffer.from(text), false, undefined)).toThrow(
      expect.objectContaining({
        options: expect.objectContaining({
          errors: [expect.objectContaining({ pointer: '', code: 'too_long' })],
        }),
      }),
    );
  });

  it('is refused at its first reading too many', () => {
    expect(() => readBulk(Buffer.from(`{"readings":[${','.repeat(5_000)}`), false, undefined)).toThrow(
      expect.objectContaining({
        options: expect.objectContaining({
          errors: [expect.objectContaining({ pointer: '/readings', code: 'too_many' })],
        }),
      }),
    );
  });

  it('keeps the order of its readings, those that are not valid among them', async () => {
    const mixed = readings.map((one, index) => (index % 7 === 3 ? { ...one, locale: 'de-DE' } : one));
    const items = await checked(json(mixed));
    const refused = items.flatMap((item, index) => (item.checked instanceof Problem ? [index] : []));
    expect(refused).toEqual([...readings.keys()].filter((index) => index % 7 === 3));
  });

  it.each([
    [
      '{"mode":"all","readings":[1,[2,{"readings":[3]}],"]",{"a":"}"}]}',
      ['1', '[2,{"readings":[3]}]', '"]"', '{"a":"}"}'],
    ],
    ['{ "re\\u0061dings" : [ 1 , 2 ] , "mode" : "all" }', [' 1 ', ' 2 ']],
  ])('tells its readings apart wherever they stand: %s', (text, all) => {
    expect(readBulk(Buffer.from(text), false, undefined).readings.map((one) => one.json)).toEqual(all);
  });

  it.each([
    '{"mode":"all","readings":[1,,2]}',
    '{"mode":"all","readings":[1,2,]}',
    '{"mode":"all","readings":[1 2]}',
    '{"mode":"all","readings":[{"a":[}]}',
    '{"mode":"all","readings":[1}]',
    '{"mode":"all","readings":[1,"]}',
    '{"mode":"all","readings":[1],}',
    '{"mode":"all","readings":[1]',
  ])('that is no JSON is refused whole, wherever its fault is: %s', async (text) => {
    await expect(async () => checked(Buffer.from(text))).rejects.toMatchObject({ code: 'malformed_json' });
  });

  it.each([
    ['{"mode":"all","readings":[1],"readings":[2]}', '/readings', 'duplicate_member'],
    ['{"mode":"readings","more":[1]}', '/more', 'unknown_field'],
    ['["readings",[1]]', '', 'invalid_type'],
    [`{"mode":"all","readings":[1],"more":${'['.repeat(3_000)}${']'.repeat(3_000)}}`, '', 'too_deep'],
    [`{"mode":"all","readings":[${'1,'.repeat(100_000)}1]}`, '/readings', 'too_many'],
  ])('is refused whole for what is wrong around its readings: %.40s', (text, pointer, code) => {
    expect(() => readBulk(Buffer.from(text), false, undefined)).toThrow(
      expect.objectContaining({
        options: expect.objectContaining({
          errors: expect.arrayContaining([expect.objectContaining({ pointer, code })]),
        }),
      }),
    );
  });
});
