import { randomPerson } from '#publishing/document/testing/random-people.js';
import { GENDERS, LOCALES } from '#publishing/document/testing/trial.js';

/**
 * The request body for a reading of the nth person; languages and genders alternate. The typesetter caches paragraphs,
 * so repeating one person would cost less than different people do.
 */
export const somebody = (n: number) => {
  const { name, dateOfBirth } = randomPerson(n);
  return {
    productId: 'theme',
    profileId: 'evan',
    locale: LOCALES[n % LOCALES.length]!,
    name,
    dateOfBirth,
    grammaticalProfile: { subjectGender: GENDERS[n % GENDERS.length]! },
  };
};
