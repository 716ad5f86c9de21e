import { type Person, randomPerson } from '#publishing/document/testing/random-people.js';
import { GENDERS, LOCALES, type Trial, trialDocument } from '#publishing/document/testing/trial.js';
import { sheetOf } from '#publishing/pdf/booklet.js';
import { readPages } from '#publishing/pdf/testing/laid-out.js';
import { pageFaults } from '#publishing/pdf/testing/page-faults.js';
import type { Typesetter } from '#publishing/pdf/typesetter.js';

/** What is careless on the pages of a person's booklet, each with its page. */
export const pageFaultsOf = (typesetter: Typesetter, trial: Trial): string[] => {
  const { locale } = trial;
  const pages = readPages(typesetter.typeset(trialDocument(trial)));
  return pageFaults(pages, { locale, paper: sheetOf('by-locale', locale) }).map(
    ({ page, fault }) => `page ${page} of ${pages.length}: ${fault}`,
  );
};

const named = (lastName: string, dateOfBirth: string, ...firstNames: string[]): Person => ({
  name: { firstNames, middleNames: [], lastNames: [lastName] },
  dateOfBirth,
});

/** People whose names or ages are hard to lay out. */
export const HARD_TO_LAY_OUT: readonly Person[] = [
  named('de La Tour', '1982-04-13', 'Jean-Baptiste', 'Marie'),
  named('Smith Jr.', '1956-08-22', 'Robert', 'Lee'),
  named("O'Neil", '2018-05-04', 'Anne-Sophie'),
  named('Llanfairpwllgwyngyllgogerych', '1936-11-11', 'Abcdefghijklmnopqrstuvwxyza'),
  named('Wolfeschlegelsteinhausenbergerdorffwelchevoralternwaren', '1921-09-19', 'Li'),
  named('Martin', '2026-07-03', 'Léa'),
  named('ANDRIAMAHAROMANANA', '1990-06-15', 'Ana'),
  named('W'.repeat(100), '1990-06-15', 'Li'),
  named('T̈heodor', '1990-06-15', 'Ọlọ́runfẹ́mi'),
];

/**
 * Typesets the booklets of `people` random people in both languages and yields the faults of each person.
 * @param seed of the first person; the others follow
 */
export function* checkPages(
  typesetter: Typesetter,
  people: number,
  seed: number,
): Generator<readonly string[]> {
  for (let each = seed; each < seed + people; each += 1) {
    const gender = GENDERS[each % GENDERS.length]!;
    yield LOCALES.flatMap((locale) =>
      pageFaultsOf(typesetter, { person: randomPerson(each), locale, gender }).map(
        (fault) => `person ${each} ${locale} ${gender}, ${fault}`,
      ),
    );
  }
}
