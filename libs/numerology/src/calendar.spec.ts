import { describe, expect, it } from '@jest/globals';
import { ageOn, requireDate } from './calendar.js';
import { checkDateOfBirth } from './calendar.js';

const TODAY = '2026-11-21';
const age = (birth: string, on: string): number => ageOn(requireDate(birth), requireDate(on));

describe('a date of birth', () => {
  it.each(['1583-01-01', '1990-06-15', '2000-02-29', '2024-02-29', TODAY])('may be %s', (text) => {
    expect(checkDateOfBirth(text, TODAY)).toBeNull();
  });

  it.each([
    ['1582-12-31', 'must not be before 1583-01-01'],
    ['2026-11-22', 'must not be in the future'],
    ...['1900-02-29', '2023-02-29', '1990-04-31', '1990-13-01', '1990-00-10', '1990-01-00'].map((text) => [
      text,
      'must be a calendar date YYYY-MM-DD',
    ]),
    ...['', '1990-6-15', '1990-06-15T00:00:00Z', ' 1990-06-15', '1990-06-15\n', '१९९०-06-15'].map((text) => [
      text,
      'must be a calendar date YYYY-MM-DD',
    ]),
  ])('may not be %j', (text, detail) => {
    expect(checkDateOfBirth(text, TODAY)).toEqual({ code: 'invalid_date', detail });
  });
});

describe('the age of a person', () => {
  it('grows on the birthday', () => {
    expect(age('1990-06-15', '2026-06-14')).toBe(35);
    expect(age('1990-06-15', '2026-06-15')).toBe(36);
  });

  it('grows on 1 March of a common year for a person born on 29 February', () => {
    expect(age('2000-02-29', '2026-02-28')).toBe(25);
    expect(age('2000-02-29', '2026-03-01')).toBe(26);
    expect(age('2000-02-29', '2028-02-28')).toBe(27);
    expect(age('2000-02-29', '2028-02-29')).toBe(28);
  });

  it('is 0 for a birth dated tomorrow, as it is in an earlier time zone', () => {
    expect(age('2026-09-30', '2026-09-29')).toBe(0);
  });
});
