import { expect, it } from '@jest/globals';
import { isUuid } from './uuid.js';

const ID = 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6';

it.each([
  ['an id of the service', ID, true],
  ['capital letters, which its ids have not', ID.toUpperCase(), false],
  ['a line after it', `${ID}\n`, false],
  ['a text before it', `evt_${ID}`, false],
  ['no hyphens', ID.replaceAll('-', ''), false],
  ['nothing', '', false],
])('%s', (_, text, expected) => {
  expect(isUuid(text)).toBe(expected);
});
