import { describe, expect, it } from '@jest/globals';
import { CreateReadingDto } from './request-reading.js';
import { checkReadings, readBulk } from './bulk-body.js';
import { BODY } from '../../test/readings.js';

const READINGS = 100;
const readings = Array.from({ length: READINGS }, () => BODY);
const lines = Buffer.from(readings.map((one) => JSON.stringify(one)).join('\n'));

const json = (all: readonly unknown[]) => Buffer.from(JSON.stringify({ mode: 'all', readings: all }));
const checked = (body: Buffer, queryMode?: string) =>
  checkReadings(readBulk(body, queryMode !== undefined, queryMode).readings, CreateReadingDto);

/** A refusal with this error among its own. */
const refusal = (pointer: string, code: string) =>
  expect.objectContaining({
    options: expect.objectContaining({
      errors: expect.arrayContaining([expect.objectContaining({ pointer, code })]),
    }),
  });
const read = (text: string) => readBulk(Buffer.from(text), false, undefined);

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

  it('may have empty lines between its readings, and no millions of them', async () => {
    const apart = (blank: number) =>
      Buffer.from(`${JSON.stringify(BODY)}${'\n'.repeat(blank)}${JSON.stringify(BODY)}`);
    const items = await checked(apart(9_999), 'all');
    expect(items.map(({ line }) => line)).toEqual([1, 10_000]);
    expect(() => readBulk(apart(10_000), true, 'all')).toThrow(refusal('', 'too_many'));
  });

  it.each([
    ['JSON', (one: object) => json([one, BODY]), undefined],
    ['lines', (one: object) => Buffer.from(`${JSON.stringify(one)}\n${JSON.stringify(BODY)}`), 'all'],
  ])(
    'as %s refuses a reading that is larger than one alone may be, and no other',
    async (_, bodyOf, mode) => {
      const items = await checked(bodyOf({ ...BODY, externalId: 'x'.repeat(16_384) }), mode);
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

  it.each([
    ['names', `{${'"x":1,'.repeat(3_000)}"readings":[1]}`],
    ['lists', `{${'"readings":[],'.repeat(2_000)}"mode":"all"}`],
    ['blanks', `{"readings":[1],${' '.repeat(20_000)}"mode":"all"}`],
  ])('has at most 16 KiB beside its readings, whatever they are: %s', (_, text) => {
    expect(() => read(text)).toThrow(refusal('', 'too_long'));
  });

  it.each([
    [
      '{"mode":"all","readings":[1,[2,{"readings":[3]}],"]",{"a":"}"}]}',
      ['1', '[2,{"readings":[3]}]', '"]"', '{"a":"}"}'],
    ],
    ['{ "re\\u0061dings" : [ 1 , 2 ] , "mode" : "all" }', [' 1 ', ' 2 ']],
  ])('tells its readings apart wherever they stand: %s', (text, all) => {
    expect(read(text).readings.map((one) => one.json)).toEqual(all);
  });

  it.each([
    '{"mode":"all","readings":[1,,2]}',
    '{"mode":"all","readings":[{"a":[}]}',
    '{"mode":"all","readings":[1}]',
    '{"mode":"all","readings":[1,"]}',
    '{"mode":"all","readings":[1]',
  ])('that is no JSON is refused whole, wherever its fault is: %s', async (text) => {
    await expect(async () => checked(Buffer.from(text))).rejects.toMatchObject({ code: 'malformed_json' });
  });

  it.each([
    ['{"mode":"all","readings":[1],"readings":[2]}', '/readings', 'duplicate_member'],
    ['{"mode":"readings","more":[1]}', '/more', 'unknown_field'],
    [`{"mode":"all","readings":[1],"more":${'['.repeat(3_000)}${']'.repeat(3_000)}}`, '', 'too_deep'],
    [`{"mode":"all","readings":[${'1,'.repeat(100_000)}1]}`, '/readings', 'too_many'],
    [`{"readings":[${','.repeat(5_000)}`, '/readings', 'too_many'],
  ])('is refused whole for what is wrong around its readings: %.40s', (text, pointer, code) => {
    expect(() => read(text)).toThrow(refusal(pointer, code));
  });

  it.each<[string, string, boolean, string | undefined, readonly string[]]>([
    ['JSON', '{"more":1,"readings":{}}', false, 'all', ['/more', '?mode', '/mode', '/readings']],
    ['JSON without readings', '{"mode":"some","readings":[]}', false, undefined, ['/mode', '/readings']],
    ['empty lines', '\n', true, undefined, ['?mode', '/readings']],
  ])('of %s is told all that is wrong with the whole at once', (_, text, isLines, mode, pointers) => {
    const errors = pointers.map((pointer) => expect.objectContaining({ pointer }));
    const refused = expect.objectContaining({ options: expect.objectContaining({ errors }) });
    expect(() => readBulk(Buffer.from(text), isLines, mode)).toThrow(refused);
  });
});
