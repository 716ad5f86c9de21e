import { describe, expect, it } from '@jest/globals';
import { TEXTS } from '../texts/texts.js';
import { formatsOf } from './formats.js';

/** The spaces of CLDR differ between versions of ICU. */
const plain = (text: string): string => text.replaceAll(/[\u00a0\u202f]/g, ' ');

describe('formats', () => {
  it('write a date of birth as it is, also far from UTC', () => {
    for (const zone of ['Pacific/Honolulu', 'UTC', 'Pacific/Kiritimati']) {
      expect(formatsOf('fr', zone).date('1990-04-01')).toBe('1er avril 1990');
      expect(formatsOf('fr', zone).date('1990-04-11')).toBe('11 avril 1990');
      expect(formatsOf('en', zone).date('1990-04-01')).toBe('April 1, 1990');
    }
  });

  it('tell the two hours apart that a clock shows twice, and name UTC', () => {
    const told = (['fr', 'en'] as const).flatMap((language) =>
      ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z'].map((instant) =>
        plain(formatsOf(language, 'Europe/Paris').time(instant)),
      ),
    );
    expect(told).toEqual([
      ...['25 oct. 2026, 02:30:00 UTC+2', '25 oct. 2026, 02:30:00 UTC+1'],
      ...['Oct 25, 2026, 2:30:00 AM GMT+2', 'Oct 25, 2026, 2:30:00 AM GMT+1'],
    ]);
    expect(formatsOf('fr', 'UTC').time('2026-10-25T00:30:00Z')).toMatch(/ UTC$/);
  });

  it('name a month in the title of its statement', () => {
    const title = (language: 'fr' | 'en', month: string): string =>
      TEXTS[language].statement.title(formatsOf(language, 'Pacific/Honolulu').month(month));
    expect(['2026-11', '2026-04', '2026-08', '2026-10'].map((month) => title('fr', month))).toEqual([
      'Relevé de novembre 2026',
      'Relevé d’avril 2026',
      'Relevé d’août 2026',
      'Relevé d’octobre 2026',
    ]);
    expect(title('en', '2026-01')).toBe('Statement of January 2026');
  });
});
