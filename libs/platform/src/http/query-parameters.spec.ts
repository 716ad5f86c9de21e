import { expect, it } from '@jest/globals';
import type { Problem } from './problem.js';
import { checkParameters } from './query-parameters.js';

const KNOWN = new Map([
  ['type', true],
  ['limit', false],
]);

const errorsOf = (query: string) => {
  try {
    checkParameters(query, KNOWN);
    return null;
  } catch (error) {
    return (error as Problem).options.errors ?? [];
  }
};

it.each<[string, string[] | null]>([
  ...['', '&', 'limit=1', 'limit', '&&limit=1&', 'l%69mit=1', 'type=a&type=b', 'limit=a=b'].map(
    (query): [string, null] => [query, null],
  ),
  ['staus=1', ['?staus']],
  ['a=1&limit=2&b=3', ['?a', '?b']],
  ['limit=1&limit=2&limit=3', ['?limit']],
  ['limit=1&l%69mit=2', ['?limit']],
  ['=1', ['?']],
  ['%E0%A4%A=1', ['?']],
  ['__proto__=1', ['?__proto__']],
])('Of the query %j, these parameters are refused: %j', (query, pointers) => {
  expect(errorsOf(query)?.map(({ pointer }) => pointer) ?? null).toEqual(pointers);
});

it('Those that a route knows are told with an unknown one', () => {
  expect(errorsOf('staus=1')?.[0]?.detail).toBe('is not a parameter of this request; it has limit, type');
});

it.each(['p', 'limit=1&', 'type=1&'])('They are not all checked: thousands of %j', (part) => {
  const query = Array.from({ length: 5_000 }, (_, n) => (part === 'p' ? `p${n}&` : part)).join('');
  expect(errorsOf(query)!.length).toBeLessThanOrEqual(20);
});
