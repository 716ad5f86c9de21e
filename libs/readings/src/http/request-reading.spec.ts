import { describe, expect, it } from '@jest/globals';
import 'reflect-metadata';
import { BodyPipe } from '#platform/http/body.pipe.js';
import type { Problem } from '#platform/http/problem.js';
import { BODY } from '../../test/readings.js';
import { askedRefusal, CreateReadingDto, inputOf } from './request-reading.js';

const pipe = new BodyPipe();
const accepted = async (references: object) =>
  inputOf((await pipe.transform({ ...BODY, ...references }, META)) as CreateReadingDto);
const META = { type: 'body', metatype: CreateReadingDto } as const;

/** Pointer and code of each error. */
const errorsOf = async (references: object): Promise<readonly (readonly [string, string])[]> => {
  try {
    await accepted(references);
    return [];
  } catch (error) {
    return ((error as Problem).options.errors ?? []).map(({ pointer, code }) => [pointer, code] as const);
  }
};

const manyPairs = (count: number, value: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, value]));

describe('the references of a request', () => {
  it('are kept as they were sent, whatever their keys', async () => {
    const metadata = { toString: 'text', valueOf: '', 'à/b~c': 'x'.repeat(500), ['é'.repeat(40)]: '' };
    const externalId = '𝒜'.repeat(200);
    expect(await accepted({ externalId, metadata })).toMatchObject({ externalId, metadata });
    expect(Object.keys((await accepted({ metadata })).metadata!)).toEqual(Object.keys(metadata));
    expect((await accepted({ metadata: {} })).metadata).toEqual({});
  });

  it('are absent when none were sent, and when null was', async () => {
    for (const none of [{}, { externalId: null, metadata: null }])
      expect(Object.keys(await accepted(none))).toEqual(['name', 'dateOfBirth', 'grammaticalProfile']);
  });

  it('that break a rule are refused with their pointers, without their values', async () => {
    for (const [references, ...errors] of [
      [{ externalId: '' }, ['/externalId', 'too_short']],
      [{ externalId: 'x'.repeat(201) }, ['/externalId', 'too_long']],
      [{ externalId: 'a\u200bb' }, ['/externalId', 'invalid_character']],
      [{ metadata: [] }, ['/metadata', 'invalid_type']],
      [
        { metadata: { a: 1, 'b/c': null } },
        ['/metadata/a', 'invalid_type'],
        ['/metadata/b~1c', 'invalid_type'],
      ],
      [{ metadata: { a: 'x'.repeat(501) } }, ['/metadata/a', 'too_long']],
      [{ metadata: { '': 'x' } }, ['/metadata', 'invalid_key']],
      [{ metadata: manyPairs(21, '') }, ['/metadata', 'too_many']],
      [{ metadata: manyPairs(9, 'é'.repeat(226)) }, ['/metadata', 'too_large']],
      [{ externalId: '', metadata: 'a' }, ['/metadata', 'invalid_type'], ['/externalId', 'too_short']],
    ] as const)
      expect([references, await errorsOf(references)]).toEqual([references, errors]);
  });
});

it('Names the field of each fault, and what is wrong with it', async () => {
  const { name } = BODY;
  const named = (change: object) => ({ name: { ...name, ...change } });
  for (const [change, ...errors] of [
    [{ productId: 'horoscope' }, '/productId unknown_product'],
    [{ profileId: undefined }, '/profileId required'],
    [{ locale: 'de-DE' }, '/locale unsupported_locale'],
    [named({ firstNames: [] }), '/name/firstNames too_few'],
    [named({ nickNames: [] }), '/name/nickNames unknown_field'],
    [
      named({ firstNames: ['Zoé', 7, 'R2'], middleNames: 'May' }),
      '/name/firstNames/1 invalid_type',
      '/name/firstNames/2 digit_in_name',
      '/name/middleNames invalid_type',
    ],
    ...['2023-02-29', '2999-01-01', 19900412].map(
      (dateOfBirth) => [{ dateOfBirth }, '/dateOfBirth invalid_date'] as const,
    ),
    [{ grammaticalProfile: { subjectGender: 'femin' } }, '/grammaticalProfile/subjectGender invalid_value'],
    [{ credits: 0 }, '/credits unknown_field'],
    [
      { ...named({ firstNames: ['Ada9'], x: 1 }), grammaticalProfile: { subjectGender: 'q', y: 1 } },
      '/name/x unknown_field',
      '/grammaticalProfile/y unknown_field',
      '/name/firstNames/0 digit_in_name',
      '/grammaticalProfile/subjectGender invalid_value',
    ],
  ] as const) {
    const found = (await errorsOf(change)).map((error) => error.join(' '));
    expect([change, found.toSorted()]).toEqual([change, errors.toSorted()]);
  }
});

it.each([
  ['insufficient_credits', 402, 'insufficient_credits', undefined],
  ['rate_limited', 429, 'rate_limited', '1'],
  ['unavailable', 503, 'enqueue_unavailable', '5'],
  ['billing_misconfigured', 503, 'billing_misconfigured', '60'],
])(
  'The refusal %s answers as the real one, and says that it was asked for, so that it alarms no operator',
  (outcome, status, code, retryAfter) => {
    const refusal = askedRefusal({ test_outcome: outcome }, 'test')!;
    expect(refusal).toMatchObject({ status, code, options: { isAsked: true } });
    expect(refusal.options.headers?.['Retry-After']).toBe(retryAfter);
  },
);
