import { expect, it } from '@jest/globals';
import { FORMATS } from './locale-formats.js';

const { 'fr-FR': french, 'en-US': english } = FORMATS;

it.each([
  ['the first of a month as French readers do', french.date('1990-01-01'), '1er\u00A0janvier 1990'],
  ['other days', french.date('1990-01-21'), '21\u00A0janvier 1990'],
  ['an American month with its day', english.date('1990-06-15'), 'June\u00A015, 1990'],
  ['dates from before 1900, never shifted', english.date('1815-12-10'), 'December\u00A010, 1815'],
  ['a French list', french.list(['3', '6', '8']), '3, 6 et 8'],
  ['an American list', english.list(['3', '6', '8']), '3, 6, and 8'],
  ['halves in French', french.amount(6.5), '6,5'],
  ['whole amounts', english.amount(4), '4'],
  ['French birthdays', [1, 2, 11, 23, 32].map(french.ordinal).join(), '1er,2e,11e,23e,32e'],
  ['American birthdays', [1, 2, 11, 23, 32].map(english.ordinal).join(), '1st,2nd,11th,23rd,32nd'],
])('Formats write %s', (_, written, expected) => {
  expect(written).toBe(expected);
});
