import type { StructuredName } from '#numerology/index.js';
import type { Trial } from './trial.js';

/** A sample reading and the name of its files. */
export interface Sample extends Trial {
  readonly slug: string;
}

type NameParts = readonly [firstNames: string[], middleNames: string[], lastNames: string[]];

const name = ([firstNames, middleNames, lastNames]: NameParts): StructuredName => ({
  firstNames,
  middleNames,
  lastNames,
});

const sample = (
  slug: string,
  locale: Trial['locale'],
  gender: Trial['gender'],
  parts: NameParts,
  dateOfBirth: string,
): Sample => ({ slug, locale, gender, person: { name: name(parts), dateOfBirth } });

/**
 * Twelve readings that between them take every rare way through the text: each master number and karmic debt, both
 * languages, the three genders, a child, someone of long ago, names without vowel or consonant, very short and very long.
 */
export const SAMPLES: readonly Sample[] = [
  sample('01-debt-13', 'fr-FR', 'feminine', [['Camille'], ['Marie'], ['Laurent']], '1990-06-15'),
  sample('02-life-path-33', 'fr-FR', 'masculine', [['Jean-Pierre'], [], ['d’Arc']], '1952-03-22'),
  sample('03-vietnamese-name', 'en-US', 'feminine', [['Nguyễn'], ['Thị'], ['Minh']], '1984-11-22'),
  sample('04-no-vowel', 'fr-FR', 'neutral', [['Ng'], [], ['Ng']], '1978-02-03'),
  sample('05-under-16', 'fr-FR', 'masculine', [['Yann'], ['Malo'], ['Le Goff']], '2019-08-30'),
  sample('06-over-110', 'en-US', 'feminine', [['Ada'], ['King'], ['Lovelace']], '1815-12-10'),
  sample('07-debts-13-and-16', 'en-US', 'neutral', [['Lucy'], [], ['Jones']], '1990-06-15'),
  sample('08-no-consonant', 'en-US', 'masculine', [['Aoi'], [], ['Ueo']], '2001-01-01'),
  sample(
    '09-life-path-11',
    'en-US',
    'feminine',
    [['Olivia', 'Grace'], ['Elizabeth'], ['Montgomery']],
    '1987-11-29',
  ),
  sample(
    '10-long-name',
    'fr-FR',
    'masculine',
    [
      ['Maximilien', 'François'],
      ['Marie', 'Isidore', 'Alexandre'],
      ['de La Rochefoucauld-Montbel', 'd’Entremont'],
    ],
    '1968-08-13',
  ),
  sample('11-short-name', 'en-US', 'masculine', [['Bo'], [], ['Li']], '1999-05-16'),
  sample('12-life-path-22', 'fr-FR', 'neutral', [['Ève'], ['Rose'], ['Łukasz']], '1980-02-29'),
];
