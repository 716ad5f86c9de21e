import { describe, expect, it } from '@jest/globals';
import { canonicalGender } from './subject-gender.js';

describe('the gender of a subject', () => {
  it.each([
    ['feminine', ['feminine', 'female', 'f', 'woman', 'F', 'Female']],
    ['masculine', ['masculine', 'male', 'm', 'man', 'MALE']],
    ['neutral', ['neutral', 'other', 'x', 'nonbinary', 'neuter', 'unspecified', 'X']],
  ])('is %s', (canonical, spellings) => {
    for (const spelling of spellings) expect(canonicalGender(spelling)).toBe(canonical);
  });

  it('is not guessed from anything else', () => {
    for (const text of ['', 'femail', ' f', 'toString', 'w']) expect(canonicalGender(text)).toBeNull();
  });
});
