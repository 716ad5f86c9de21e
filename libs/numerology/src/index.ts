export { type Figure, figure, indebtedFigure, type KarmicDebt } from './arithmetic/figure.js';
export { chain, type Digit, DIGITS, digitSum, MASTERS, reduce, root } from './arithmetic/reduce.js';
export { ageOn, type CalendarDate, readDate } from './calendar/calendar-date.js';
export {
  checkDateOfBirth,
  type DateProblem,
  EARLIEST_DATE_OF_BIRTH,
} from './calendar/check-date-of-birth.js';
export type { Challenges } from './cycles/challenges.js';
export type { Now } from './cycles/now.js';
export { personalDay, personalMonth, personalYear, universalYear } from './cycles/personal-year.js';
export type { Stage } from './cycles/stage.js';
export type { Essence, Transits } from './cycles/transits.js';
export { ENGINE_VERSION, METHOD, METHOD_ID, type Method } from './method.js';
export {
  checkName,
  MAX_ELEMENT_LENGTH,
  MAX_ELEMENTS,
  MAX_LETTERS,
  type NameProblem,
  type NameProblemCode,
} from './name/check-name.js';
export type { LetterRole, YReason } from './name/letter-role.js';
export { letterValue } from './name/letters.js';
export type { IgnoredWord, Normalization, NormalizedWord, YRole } from './name/normalization.js';
export { displayName, type StructuredName } from './name/structured-name.js';
export {
  type FoldedName,
  foldToWords,
  type Letter,
  type NameGroup,
  type Word,
  yReasonsOf,
} from './name/words.js';
export type { Bridges } from './numbers/bridges.js';
export type { Grid } from './numbers/grid.js';
export type { KeyLetters } from './numbers/key-letters.js';
export type { Birthday, DatePart, LifePath } from './numbers/life-path.js';
export type { AbsentNumber, NameNumber, OptionalNameNumber, WordPart } from './numbers/name-numbers.js';
export { type KarmicDebtAt, karmicDebts, type Numbers } from './numbers/numbers.js';
export { type Plane, PLANE_LETTERS, type PlaneName, type Planes } from './numbers/planes.js';
export { type Locale, type ReadingResult, type ResultEnvelope, toResult } from './result.js';
export { canonicalGender, GENDER_SPELLINGS, type SubjectGender } from './subject-gender.js';
export { pairKey, type PairRelation, type Relation, relationOf, relations } from './synthesis/relations.js';
export type { Synthesis } from './synthesis/synthesis.js';
export type { TensionPair, Thread } from './synthesis/threads.js';
export { type Position, POSITION_WEIGHTS, type Weights } from './synthesis/weights.js';
export { calculateTheme, type Cycles, type Theme, type ThemeSubject } from './theme.js';
