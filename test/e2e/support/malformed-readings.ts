import { person } from '../../support/integrator.js';

/** Makes a valid body malformed. */
export type Change = (body: ReturnType<typeof person> & Record<string, unknown>) => unknown;
const name =
  (change: object): Change =>
  (body) => ({ ...body, name: { ...body.name, ...change } });

/** Malformed bodies of POST /readings: the change, the problem's code, the pointers and codes of its fields. */
export const BODIES: [string, Change, string, [pointer: string, code: string][]][] = [
  [
    'an unknown product',
    (body) => ({ ...body, productId: 'horoscope' }),
    'unknown_product',
    [['/productId', 'unknown_product']],
  ],
  [
    'an unknown profile',
    (body) => ({ ...body, profileId: 'x' }),
    'unknown_profile',
    [['/profileId', 'unknown_profile']],
  ],
  [
    'an unsupported locale',
    (body) => ({ ...body, locale: 'de-DE' }),
    'unsupported_locale',
    [['/locale', 'unsupported_locale']],
  ],
  [
    'a missing product',
    ({ productId: _, ...body }) => body,
    'validation_failed',
    [['/productId', 'required']],
  ],
  ['a missing name', ({ name: _, ...body }) => body, 'validation_failed', [['/name', 'required']]],
  ['no first names', name({ firstNames: [] }), 'validation_failed', [['/name/firstNames', 'too_few']]],
  [
    'too many last names',
    name({ lastNames: Array(9).fill('Martin') }),
    'validation_failed',
    [['/name/lastNames', 'too_many']],
  ],
  [
    'missing middle names',
    name({ middleNames: undefined }),
    'validation_failed',
    [['/name/middleNames', 'required']],
  ],
  [
    'a name that is not an array',
    name({ firstNames: 'Zoé' }),
    'validation_failed',
    [['/name/firstNames', 'invalid_type']],
  ],
  [
    'a name that is not text',
    name({ firstNames: [7] }),
    'validation_failed',
    [['/name/firstNames/0', 'invalid_type']],
  ],
  ['a blank name', name({ firstNames: ['  '] }), 'validation_failed', [['/name/firstNames/0', 'empty']]],
  [
    'a digit in a name',
    name({ lastNames: ['M4rtin'] }),
    'validation_failed',
    [['/name/lastNames/0', 'digit_in_name']],
  ],
  [
    'an emoji in a name',
    name({ middleNames: ['Zoé😀'] }),
    'validation_failed',
    [['/name/middleNames/0', 'invalid_character']],
  ],
  [
    'another script',
    name({ firstNames: ['Юлия'] }),
    'validation_failed',
    [['/name/firstNames/0', 'unsupported_script']],
  ],
  [
    'a day that does not exist',
    (body) => ({ ...body, dateOfBirth: '2023-02-29' }),
    'validation_failed',
    [['/dateOfBirth', 'invalid_date']],
  ],
  [
    'a date in another format',
    (body) => ({ ...body, dateOfBirth: '12/04/1990' }),
    'validation_failed',
    [['/dateOfBirth', 'invalid_date']],
  ],
  [
    'a birth in the future',
    (body) => ({ ...body, dateOfBirth: '2999-01-01' }),
    'validation_failed',
    [['/dateOfBirth', 'invalid_date']],
  ],
  [
    'a birth before 1583',
    (body) => ({ ...body, dateOfBirth: '1582-12-31' }),
    'validation_failed',
    [['/dateOfBirth', 'invalid_date']],
  ],
  [
    'a date that is a number',
    (body) => ({ ...body, dateOfBirth: 19900412 }),
    'validation_failed',
    [['/dateOfBirth', 'invalid_date']],
  ],
  [
    'an unknown gender',
    (body) => ({ ...body, grammaticalProfile: { subjectGender: 'femin' } }),
    'validation_failed',
    [['/grammaticalProfile/subjectGender', 'invalid_value']],
  ],
  [
    'an unknown field',
    (body) => ({ ...body, credits: 0 }),
    'validation_failed',
    [['/credits', 'unknown_field']],
  ],
  [
    'an unknown nested field',
    name({ nickNames: [] }),
    'validation_failed',
    [['/name/nickNames', 'unknown_field']],
  ],
  [
    'unknown members beside other faults',
    (body) => ({
      ...body,
      name: { firstNames: ['Ada9'], middleNames: [], lastNames: ['Byron'], x: 1 },
      grammaticalProfile: { subjectGender: 'q', y: 1 },
    }),
    'validation_failed',
    [
      ['/name/x', 'unknown_field'],
      ['/grammaticalProfile/y', 'unknown_field'],
      ['/name/firstNames/0', 'digit_in_name'],
      ['/grammaticalProfile/subjectGender', 'invalid_value'],
    ],
  ],
  [
    'several faults at once',
    (body) => ({ ...body, locale: 'de', dateOfBirth: 'x' }),
    'validation_failed',
    [
      ['/locale', 'unsupported_locale'],
      ['/dateOfBirth', 'invalid_date'],
    ],
  ],
];

/** Raw bodies, and the problem's code. */
export const RAW: [string, string | Buffer, string][] = [
  ['a body that is not JSON', '{"productId":', 'malformed_json'],
  ['a body that is not UTF-8', Buffer.from([0x22, 0xff, 0xfe, 0x22]), 'malformed_json'],
  ['an array', '[]', 'validation_failed'],
  ['a bare null', 'null', 'validation_failed'],
  ['duplicate members', JSON.stringify(person()).replace('{', '{"locale":"en-US",'), 'validation_failed'],
  ['deep nesting', '['.repeat(9) + ']'.repeat(9), 'validation_failed'],
];
