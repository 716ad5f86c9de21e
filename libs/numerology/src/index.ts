export { chain, DIGITS, digitSum, type Figure, figure, indebtedFigure, reduce, root } from './arithmetic.js';
export { checkDateOfBirth, readDate } from './calendar.js';
export { checkName, MAX_ELEMENTS } from './check-name.js';
export { personalMonth, personalYear, type Stage } from './cycles.js';
export { PLANE_LETTERS, type PlaneName, type Planes } from './numbers.js';
export { canonicalGender, GENDER_SPELLINGS, type SubjectGender } from './subject-gender.js';
export { type Position, POSITION_WEIGHTS, relationOf } from './synthesis.js';
export { calculateTheme, type Locale, type ReadingResult, type ThemeSubject, toResult } from './theme.js';
export {
  displayName,
  foldToWords,
  letterValue,
  type NameGroup,
  type StructuredName,
  yReasonsOf,
} from './words.js';
