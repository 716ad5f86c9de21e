import { describe, expect, it } from '@jest/globals';
import type { Problem } from './problem.js';
import { checkParameters } from './query-parameters.js';

const KNOWN = new Map([
  ['type', true],
  ['limit', false],
]);

const refusal = (query: string, known = KNOWN): Problem | null => {
  try {
    checkParameters(query, known);
    return null;
  } catch (error) {
    return error as Problem;
  }
};
const pointers = (query: string) => refusal(query)?.options.errors?.map(({ pointer }) => pointer) ?? null;

describe('The parameters of a query', () => {
  it.each(['', '&', 'limit=1', 'limit', 'limit=1&', '&&limit=1', 'l%69mit=1', 'type=a&type=b', 'limit=a=b'])(
    'are known: %j',
    (query) => expect(refusal(query)).toBeNull(),
  );

  it.each([
    ['staus=1', ['?staus']],
    ['a=1&limit=2&b=3', ['?a', '?b']],
    ['limit[a]=1&limit[]=2', ['?limit[a]', '?limit[]']],
    ['limit=1&limit=2&limit=3', ['?limit']],
    ['limit=1&l%69mit=2', ['?limit']],
    ['=1', ['?']],
    ['a+b=1', ['?']],
    ['%E0%A4%A=1', ['?']],
    ['__proto__=1', ['?__proto__']],
  ])('are named when invalid: %j', (query, expected) => expect(pointers(query)).toEqual(expected));

  it('that a route knows are told with an unknown one', () => {
    const detail = (known: typeof KNOWN) => refusal('staus=1', known)?.options.errors?.[0]?.detail;
    expect([detail(KNOWN), detail(new Map())]).toEqual([
      'is not a parameter of this request; it has limit, type',
      'is not a parameter of this request; it has none',
    ]);
  });

  it('have the code of their fault when all share it', () => {
    expect([
      refusal('a=1&b=1')?.code,
      refusal('limit=1&limit=1')?.code,
      refusal('a&limit&limit')?.code,
    ]).toEqual(['unknown_parameter', 'validation_failed', 'validation_failed']);
  });

  it.each(['p', 'limit=1&', 'type=1&'])('are not all checked: thousands of %j', (part) => {
    const query = Array.from({ length: 5_000 }, (_, n) => (part === 'p' ? `p${n}&` : part)).join('');
    expect(pointers(query)!.length).toBeLessThanOrEqual(20);
  });
});
