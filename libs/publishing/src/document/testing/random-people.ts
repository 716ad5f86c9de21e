import type { StructuredName } from '#numerology/index.js';
import type { Locale } from '../document.js';

export interface Person {
  readonly name: StructuredName;
  readonly dateOfBirth: string;
}

/** Names that take different ways through the reading: accents, particles, hyphens, a Y of each kind, no vowel, no consonant. */
const NAMES = [
  'Camille', 'Jean-Pierre', 'Nguyễn', 'Zoë', 'Łukasz', 'Ng', 'Aoi', 'María', 'd’Arc', "O'Neil", 'Yves', 'Maya', 'Ødegård',
  'Thị', 'St. John', 'Wyatt', 'Ève', 'İpek', 'Bjørk', 'Ștefan', 'Œdipe', 'Bo', 'Anne-Sophie', 'de la Tour', 'Schmidt',
  'Louise', 'Mohammed', 'Inès', 'Gabriel', 'Fatoumata', 'Hugo', 'Chloé', 'Olivia', 'James', 'Emily', 'Henry', 'Grace',
  'Dubois', 'Lefèvre', 'Garcia', 'Rousseau', 'Diallo', 'Smith', 'Johnson', 'Brown', 'Taylor', 'Wilson Jr.', 'van den Berg',
  'Xu', 'Kowalczyk', 'Papadopoulos', 'Wolfeschlegelsteinhausen', 'Björn', 'Quang', 'Ffion', 'Guy', 'Lynn', 'Sky', 'Ivy',
]; // prettier-ignore

/** The most frequent first and family names of the birth registers of a country, from several decades. */
interface CommonNames {
  readonly feminine: readonly string[];
  readonly masculine: readonly string[];
  readonly last: readonly string[];
}

const COMMON_NAMES: Readonly<Record<Locale, CommonNames>> = {
  'fr-FR': {
    feminine: [
      'Marie', 'Nathalie', 'Isabelle', 'Sylvie', 'Catherine', 'Martine', 'Christine', 'Françoise', 'Valérie', 'Sandrine',
      'Stéphanie', 'Véronique', 'Sophie', 'Céline', 'Chantal', 'Patricia', 'Anne', 'Julie', 'Monique', 'Aurélie', 'Nicole',
      'Laurence', 'Annie', 'Émilie', 'Camille', 'Léa', 'Manon', 'Emma', 'Chloé', 'Inès', 'Jade', 'Louise', 'Alice', 'Lina',
      'Sarah', 'Laura', 'Pauline', 'Mathilde', 'Charlotte', 'Clara',
    ],
    masculine: [
      'Jean', 'Philippe', 'Michel', 'Alain', 'Patrick', 'Nicolas', 'Christophe', 'Pierre', 'Christian', 'Éric', 'Frédéric',
      'Laurent', 'Stéphane', 'David', 'Pascal', 'Daniel', 'Alexandre', 'Julien', 'Thierry', 'Olivier', 'Bernard', 'Thomas',
      'Sébastien', 'Gérard', 'Didier', 'Dominique', 'Vincent', 'François', 'Bruno', 'Guillaume', 'Jérôme', 'Jacques',
      'Maxime', 'Lucas', 'Hugo', 'Gabriel', 'Raphaël', 'Arthur', 'Louis', 'Antoine',
    ],
    last: [
      'Martin', 'Bernard', 'Thomas', 'Petit', 'Robert', 'Richard', 'Durand', 'Dubois', 'Moreau', 'Laurent', 'Simon',
      'Michel', 'Lefebvre', 'Leroy', 'Roux', 'David', 'Bertrand', 'Morel', 'Fournier', 'Girard', 'Bonnet', 'Dupont',
      'Lambert', 'Fontaine', 'Rousseau', 'Vincent', 'Muller', 'Lefèvre', 'Faure', 'André', 'Mercier', 'Blanc', 'Guérin',
      'Boyer', 'Garnier', 'Chevalier', 'François', 'Legrand', 'Gauthier', 'Garcia', 'Perrin', 'Robin', 'Clément', 'Morin',
    ],
  },
  'en-US': {
    feminine: [
      'Mary', 'Patricia', 'Jennifer', 'Linda', 'Elizabeth', 'Barbara', 'Susan', 'Jessica', 'Sarah', 'Karen', 'Lisa',
      'Nancy', 'Betty', 'Sandra', 'Margaret', 'Ashley', 'Kimberly', 'Emily', 'Donna', 'Michelle', 'Carol', 'Amanda',
      'Melissa', 'Deborah', 'Stephanie', 'Dorothy', 'Rebecca', 'Sharon', 'Laura', 'Cynthia', 'Amy', 'Kathleen', 'Olivia',
      'Emma', 'Sophia', 'Isabella', 'Ava', 'Mia', 'Abigail', 'Madison',
    ],
    masculine: [
      'James', 'Robert', 'John', 'Michael', 'David', 'William', 'Richard', 'Joseph', 'Thomas', 'Christopher', 'Charles',
      'Daniel', 'Matthew', 'Anthony', 'Mark', 'Donald', 'Steven', 'Andrew', 'Paul', 'Joshua', 'Kenneth', 'Kevin', 'Brian',
      'Timothy', 'Ronald', 'Jason', 'George', 'Edward', 'Jeffrey', 'Ryan', 'Jacob', 'Nicholas', 'Gary', 'Eric', 'Jonathan',
      'Liam', 'Noah', 'Ethan', 'Mason', 'Logan',
    ],
    last: [
      'Smith', 'Johnson', 'Williams', 'Brown', 'Jones', 'Garcia', 'Miller', 'Davis', 'Rodriguez', 'Martinez', 'Hernandez',
      'Lopez', 'Gonzalez', 'Wilson', 'Anderson', 'Thomas', 'Taylor', 'Moore', 'Jackson', 'Martin', 'Lee', 'Perez',
      'Thompson', 'White', 'Harris', 'Sanchez', 'Clark', 'Ramirez', 'Lewis', 'Robinson', 'Walker', 'Young', 'Allen',
      'King', 'Wright', 'Scott', 'Torres', 'Nguyen', 'Hill', 'Flores', 'Green', 'Adams', 'Nelson', 'Baker',
    ],
  },
}; // prettier-ignore

const DAY_MS = 86_400_000;
const ANCIENT = Date.UTC(1583, 0, 1) / DAY_MS;
const EARLIEST = Date.UTC(1920, 0, 1) / DAY_MS;
const LATEST = Date.UTC(2026, 8, 1) / DAY_MS;
/** One person in this many was born too early to be alive. */
const ANCIENT_SHARE = 1 / 25;

/** Mulberry32: small, quick, and the same numbers on every machine. */
const randomFrom = (seed: number) => {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return { next, below: (limit: number): number => Math.floor(next() * limit) };
};

/**
 * The person a number stands for, always the same: anyone the service would accept on 29 September 2026, from newborns to
 * those past the oldest age a "this year" is written for.
 * @param seed any 32-bit integer
 */
export const randomPerson = (seed: number): Person => {
  const { next, below } = randomFrom(seed);
  const names = (least: number, most: number): string[] =>
    Array.from({ length: least + below(most - least + 1) }, () => NAMES[below(NAMES.length)] ?? 'Camille');
  const from = next() < ANCIENT_SHARE ? ANCIENT : EARLIEST;
  return {
    name: { firstNames: names(1, 3), middleNames: names(0, 3), lastNames: names(1, 2) },
    dateOfBirth: new Date((from + below(LATEST - from)) * DAY_MS).toISOString().slice(0, 10),
  };
};

/** Days of birth, counted from 1970; the last is excluded. */
interface Span {
  readonly first: number;
  readonly last: number;
}

/**
 * The day that person reads on: from September 2026 to August 2027, another month for the next number, since a reading
 * tells the months from its own on.
 * @returns `YYYY-MM-DD`
 */
export const readingDay = (seed: number): string =>
  new Date(Date.UTC(2026, 8 + (((seed % 12) + 12) % 12), 29)).toISOString().slice(0, 10);

const FIRST_ADULT = Date.UTC(1936, 0, 1) / DAY_MS;
const LAST_ADULT = Date.UTC(2008, 0, 1) / DAY_MS;
/** From six years old to born the day before, on 29 September 2026. */
const FIRST_CHILD = Date.UTC(2019, 8, 30) / DAY_MS;
const LAST_CHILD = Date.UTC(2026, 8, 29) / DAY_MS;
const MIDDLE_NAME_SHARE = 0.7;

const commonBorn = (locale: Locale, seed: number, born: Span, lastName?: string): Person => {
  const { next, below } = randomFrom(seed);
  const { feminine, masculine, last } = COMMON_NAMES[locale];
  const firstNames = next() < 0.5 ? feminine : masculine;
  const from = (names: readonly string[]): string => names[below(names.length)] ?? '';
  const name = {
    firstNames: [from(firstNames)],
    middleNames: next() < MIDDLE_NAME_SHARE ? [from(firstNames)] : [],
    lastNames: [lastName ?? from(last)],
  };
  const day = born.first + below(born.last - born.first);
  return { name, dateOfBirth: new Date(day * DAY_MS).toISOString().slice(0, 10) };
};

/**
 * An adult with common names of a country, always the same for a number. For measuring how much readings share.
 * @param seed any 32-bit integer
 * @param lastName for relatives with one family name
 */
export const commonPerson = (locale: Locale, seed: number, lastName?: string): Person =>
  commonBorn(locale, seed, { first: FIRST_ADULT, last: LAST_ADULT }, lastName);

/**
 * A child under seven with common names of a country, always the same for a number.
 * @param seed any 32-bit integer
 * @param lastName for siblings
 */
export const commonChild = (locale: Locale, seed: number, lastName?: string): Person =>
  commonBorn(locale, seed, { first: FIRST_CHILD, last: LAST_CHILD }, lastName);
