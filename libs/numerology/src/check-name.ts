import { foldToSegments, SEPARATOR, SPACES, type StructuredName } from './words.js';

export interface NameProblem {
  /** JSON pointer relative to the name object, e.g. `/firstNames/0`; empty for the name as a whole */
  readonly pointer: string;
  readonly code: keyof typeof DETAILS | 'too_few';
  /** part of an English sentence; never contains the submitted value */
  readonly detail: string;
}

export const MAX_ELEMENTS = 8;
/** code points of one element after NFC */
const MAX_ELEMENT_LENGTH = 100;
/** UTF-16 code units before it: NFC makes one letter of four at most, and takes seconds for some thousand marks. */
const MAX_ELEMENT_UNITS = 4 * MAX_ELEMENT_LENGTH;
/** folded letters of the whole name */
const MAX_LETTERS = 300;

const DETAILS = {
  too_many: `must have at most ${MAX_ELEMENTS} elements`,
  empty: 'must not be empty',
  too_long: `must have at most ${MAX_ELEMENT_LENGTH} characters`,
  no_letters: 'must contain a letter',
  digit_in_name: 'must not contain digits; write numbers in letters or leave them out',
  invalid_character:
    'may contain Latin letters, spaces, hyphens, apostrophes, periods and middle dots only; no symbols, no invisible characters',
  unsupported_script: 'must be in Latin script; send the Latin spelling used on the passport or birth record',
} as const;

const TOO_FEW = {
  firstNames: 'must have at least one element; a single name alone cannot be read',
  lastNames: 'must have at least one element; a single name has no Heredity number',
};

/** All problems of the name, in field order; empty when the name can be calculated. */
export function checkName(name: StructuredName): NameProblem[] {
  const problems = [
    ...checkGroup('firstNames', name.firstNames),
    ...checkGroup('middleNames', name.middleNames),
    ...checkGroup('lastNames', name.lastNames),
  ];
  const faulty = new Set(problems.map(({ pointer }) => pointer));
  const sound = (group: keyof StructuredName): readonly string[] =>
    faulty.has(`/${group}`) ? [] : name[group].filter((_, index) => !faulty.has(`/${group}/${index}`));
  if (countLetters([...sound('firstNames'), ...sound('middleNames'), ...sound('lastNames')]) > MAX_LETTERS)
    problems.push({
      pointer: '',
      code: 'too_long',
      detail: `must have at most ${MAX_LETTERS} letters in all`,
    });
  return problems;
}

function checkGroup(group: keyof StructuredName, elements: readonly string[]): NameProblem[] {
  const pointer = `/${group}`;
  if (elements.length === 0 && group !== 'middleNames') {
    return [{ pointer, code: 'too_few', detail: TOO_FEW[group] }];
  }
  if (elements.length > MAX_ELEMENTS) return [{ pointer, code: 'too_many', detail: DETAILS.too_many }];
  return elements.flatMap((element, index) =>
    checkElement(element).map((code) => ({ pointer: `${pointer}/${index}`, code, detail: DETAILS[code] })),
  );
}

/** The distinct problems of one element. An element that is too long is not checked further. */
function checkElement(element: string): (keyof typeof DETAILS)[] {
  if (element.length > MAX_ELEMENT_UNITS) return ['too_long'];
  const characters = Array.from(element.normalize('NFC'));
  if (characters.length > MAX_ELEMENT_LENGTH) return ['too_long'];
  if (characters.every((character) => SPACES.test(character))) return ['empty'];
  const found = new Set(
    characters
      .map((character, at) => checkCharacter(character, characters[at - 1]))
      .filter((code) => code !== null),
  );
  if (found.size > 0) return [...found];
  return foldToSegments(element).length === 0 ? ['no_letters'] : [];
}

const CASED_LATIN = /^(?=\p{Script=Latin})(?:\p{Lu}|\p{Ll}|\p{Lt})$/u;
const OTHER_SCRIPT = /^(?=[\p{L}\p{M}])(?!\p{Script=Latin}|\p{Script=Common}|\p{Script=Inherited})/u;
const DECIMAL_DIGIT = /^\p{Nd}$/u;
/** Combining diacritics except the invisible grapheme joiner. Other marks belong to other scripts or to symbols. */
const DIACRITIC = /^[\u0300-\u034E\u0350-\u036F\u1DC0-\u1DFF]$/u;

function checkCharacter(character: string, previous: string | undefined): keyof typeof DETAILS | null {
  if (CASED_LATIN.test(character)) return foldToSegments(character).length > 0 ? null : 'invalid_character';
  if (SEPARATOR.test(character) || SPACES.test(character)) return null;
  if (DIACRITIC.test(character)) return isMarkable(previous) ? null : 'invalid_character';
  if (OTHER_SCRIPT.test(character)) return 'unsupported_script';
  return DECIMAL_DIGIT.test(character) ? 'digit_in_name' : 'invalid_character';
}

/** A diacritic must follow a letter or another diacritic, never a space or an apostrophe. */
const isMarkable = (character: string | undefined): boolean =>
  character !== undefined && (/^\p{L}$/u.test(character) || DIACRITIC.test(character));

const countLetters = (elements: readonly string[]): number =>
  elements.flatMap(foldToSegments).reduce((count, segment) => count + segment.length, 0);
