import { expect, it } from '@jest/globals';
import { helpOf } from './problem-error.js';

it.each([
  ['</docs/errors/rate_limited>; rel="help"', 'https://api.example/docs/errors/rate_limited'],
  ['<https://docs.example/x>; rel=help', 'https://docs.example/x'],
  ['</next>; rel="next", </docs/errors/not_found>; rel="help"', 'https://api.example/docs/errors/not_found'],
  ['</next>; rel="next"', null],
  ['<//[>; rel="help"', null],
  ['rate_limited', null],
  [null, null],
])('%j leads for help to %j', (link, help) => {
  expect(helpOf(link, 'https://api.example/api/v1/readings')).toBe(help);
});
