import { randomPerson } from '@app/publishing/content/random-people.js';
import { GENDERS, LOCALES } from '@app/publishing/content/trial.js';

/**
 * The body of a request for the reading of the nth person; languages and genders alternate. Typesetting keeps
 * paragraphs it has set before, so that the same person again and again would cost less than people do.
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
