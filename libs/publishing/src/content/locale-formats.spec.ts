import { describe, expect, it } from '@jest/globals';
import { formatDate, formatList, formatNumber, formatOrdinal } from './locale-formats.js';

describe('Formats of the two languages', () => {
  it('writes the first of a month as French readers do', () => {
    expect(formatDate('fr-FR', '1990-01-01')).toBe('1er\u00A0janvier 1990');
    expect(formatDate('fr-FR', '1990-06-15')).toBe('15\u00A0juin 1990');
    expect(formatDate('fr-FR', '1990-01-21')).toBe('21\u00A0janvier 1990');
  });

  it('keeps an American month with its day', () => {
    expect(formatDate('en-US', '1990-06-15')).toBe('June\u00A015, 1990');
  });

  it('writes dates from before 1900 and never shifts the day', () => {
    expect(formatDate('en-US', '1815-12-10')).toBe('December\u00A010, 1815');
  });

  it('joins lists by the usage of each language', () => {
    expect(formatList('fr-FR', ['3', '6', '8'])).toBe('3, 6 et 8');
    expect(formatList('en-US', ['3', '6', '8'])).toBe('3, 6, and 8');
  });

  it('writes halves with the decimal mark of each language', () => {
    expect(formatNumber('fr-FR', 6.5)).toBe('6,5');
    expect(formatNumber('en-US', 4)).toBe('4');
  });

  it.each([
    [1, '1er', '1st'],
    [2, '2e', '2nd'],
    [11, '11e', '11th'],
    [23, '23e', '23rd'],
    [32, '32e', '32nd'],
  ])('counts birthday %i', (age, french, english) => {
    expect(formatOrdinal('fr-FR', age)).toBe(french);
    expect(formatOrdinal('en-US', age)).toBe(english);
  });
});
