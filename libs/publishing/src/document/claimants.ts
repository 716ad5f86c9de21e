import type { ReadingResult } from '#numerology/index.js';
import {
  fullAbsent,
  fullDebt,
  fullLesson,
  isForParents,
  leadingRoot,
  lessonSituation,
  type PositionTerm,
  strengthOf,
} from './facts.js';

/** An entry whose text claims traits of the reader, or reconciles two claims. */
export interface Claimant {
  readonly key: string;
  /** Where the reader finds it. */
  readonly position: PositionTerm;
  /** The root whose group of numbers chooses the form; null if the name does not give that number. */
  readonly companion?: number | null;
  /** Left out when it clashes. */
  readonly optional?: true;
}

export const lessonKey = (result: ReadingResult, digit: number): string =>
  `lessons ${digit}.${lessonSituation(result, digit)}`;

export const dominantKey = (result: ReadingResult, part: 'open' | 'close'): string =>
  `synthesis/dominant ${leadingRoot(result)}.${strengthOf(result)}.${part}`;

/** The entries that name both numbers of a pair. */
export const pairKeys = ({ numbers }: ReadingResult): { path: string; soul: string | null } => {
  const { lifePath, expression, soulUrge, personality } = numbers;
  return {
    path: `pairs-path/${lifePath.root} ${expression.root}`,
    soul:
      soulUrge.root === null || personality.root === null
        ? null
        : `pairs-soul/${soulUrge.root} ${personality.root}`,
  };
};

const ofName = (result: ReadingResult): Claimant[] => {
  const { lifePath, expression, soulUrge, personality, active } = result.numbers;
  const { path, soul } = pairKeys(result);
  return [
    { key: `expression/${expression.value} gift`, position: 'expression', companion: lifePath.root },
    { key: `expression/${expression.value} cost`, position: 'expression' },
    ...(soulUrge.value === null
      ? []
      : (['wish', 'hidden'] as const).map((part): Claimant => ({
          key: `soul-urge/${soulUrge.value} ${part}`,
          position: 'soulUrge',
        }))),
    ...(personality.value === null
      ? []
      : [{ key: `personality/${personality.value} first`, position: 'personality' } as const]),
    { key: `active ${active.value}`, position: 'active' },
    { key: path, position: 'expression' },
    ...(soul === null ? [] : [{ key: soul, position: 'personality' } as const]),
  ];
};

/** Of cells that tie for the fullest, so many are told. */
const MOST_PASSIONS = 2;

/** Which of them get their text: none where each has a single letter, since the texts are about many. */
export const toldPassions = ({ grid }: ReadingResult): number[] =>
  grid.hiddenPassion.slice(0, MOST_PASSIONS).filter((digit) => grid.counts[digit] > 1);

const ofLetters = (result: ReadingResult): Claimant[] => {
  const lesson = fullLesson(result);
  return [
    ...toldPassions(result).map((digit, index): Claimant => ({
      key: `passion ${digit}`,
      position: 'passion',
      ...(index > 0 && { optional: true }),
    })),
    ...(lesson === undefined ? [] : [{ key: lessonKey(result, lesson), position: 'lesson' } as const]),
  ];
};

/** Every entry of a reading with claims, in document order. The texts for parents claim nothing. */
export const claimantsOf = (result: ReadingResult): Claimant[] => {
  if (isForParents(result)) return [];
  const { lifePath, birthday, expression, soulUrge } = result.numbers;
  const file = `life-path/${lifePath.value}`;
  const absent = fullAbsent(result);
  const debt = fullDebt(result);
  return [
    { key: `${file} drive`, position: 'lifePath', companion: expression.root },
    { key: `${file} cost`, position: 'lifePath' },
    { key: `${file} others`, position: 'lifePath', companion: soulUrge.root },
    { key: `birthday ${birthday.day}`, position: 'birthday' },
    ...ofName(result),
    ...ofLetters(result),
    ...(debt === undefined ? [] : [{ key: `debts ${debt}.text`, position: 'debt' } as const]),
    { key: dominantKey(result, 'open'), position: 'leading' },
    ...(absent === undefined
      ? []
      : [{ key: `synthesis/absent ${absent}.full`, position: 'lesson', optional: true } as const]),
  ];
};
