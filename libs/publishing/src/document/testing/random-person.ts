import fc from 'fast-check';
import type { Person } from './people.js';

const NAMES = [
  'Camille', 'Jean-Pierre', 'Nguyễn', 'Zoë', 'Łukasz', 'Ng', 'Aoi', 'María', "d'Arc", 'O’Neil', 'Yves', 'Maya', 'Ødegård',
  'Thị', 'St. John', 'Wyatt', 'Ève', 'İpek', 'Bjørk', 'Ștefan', 'Œdipe', 'Bo', 'Anne-Sophie', 'de la Tour', 'Schmidt',
]; // prettier-ignore

const names = (min: number, max: number) =>
  fc.array(fc.constantFrom(...NAMES), { minLength: min, maxLength: max });

const DAY_MS = 86_400_000;
const EARLIEST = Date.UTC(1890, 0, 1) / DAY_MS;
const LATEST = Date.UTC(2026, 8, 1) / DAY_MS;

/** Anyone the service would accept, from children to those past the oldest age a "this year" is written for. */
export const randomPerson: fc.Arbitrary<Person> = fc.record({
  name: fc.record({ firstNames: names(1, 3), middleNames: names(0, 3), lastNames: names(1, 2) }),
  dateOfBirth: fc
    .integer({ min: EARLIEST, max: LATEST })
    .map((day) => new Date(day * DAY_MS).toISOString().slice(0, 10)),
});
