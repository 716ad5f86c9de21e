import type { ReadingResult } from '#numerology/index.js';
import {
  type AgeBand,
  type Concord,
  CONCORDS,
  type Form,
  type Claim,
  type Trait,
  TRAIT_NAMES,
} from '../content/book/shape.js';
import type { Forms } from '../content/message.js';
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
import type { Book } from '../content/book/book.js';

/** FNV-1a, then mixed so that neighbouring texts differ in every bit. 32 bits, the same on every machine. */
const hash = (text: string): number => {
  let state = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) state = Math.imul(state ^ text.charCodeAt(at), 0x01000193);
  state = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
  state = Math.imul(state ^ (state >>> 15), 0x735a2d97);
  return (state ^ (state >>> 15)) >>> 0;
};

/** What a choice between equal forms depends on: the folded name and the date of birth, nothing else. */
export const personKey = ({ normalization, subject }: ReadingResult): string =>
  `${normalization.words.map(({ letters }) => letters).join(' ')} ${subject.dateOfBirth}`;

/** A number below `count`, for ever the same for this person and this entry. */
export const pick = (person: string, key: string, count: number): number =>
  count < 2 ? 0 : hash(`${person} ${key}`) % count;

/** The group of roots that a number belongs to. */
export const concordOf = (root: number): Concord =>
  CONCORDS.find((concord) => concord.includes(String(root))) ?? '3-6-9';

/** From which age, in completed years. From 30 to 59 every text is as it is written. */
const BANDS: readonly (readonly [age: number, band: AgeBand | undefined])[] = [
  [80, '80+'],
  [60, '60-79'],
  [30, undefined],
  [16, '16-29'],
  [7, '7-15'],
];

/** The band of an age in completed years; undefined where no text is for an age. */
export const bandOf = (age: number): AgeBand | undefined => BANDS.find(([first]) => age >= first)?.[1];

/** The text of a form at an age. */
export const textAt = (form: Form, age: number): Forms => {
  const band = bandOf(age);
  return (band && form.ages[band]) ?? form.text;
};

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

/** A trait of which the chosen texts claim both poles, and where. The reading reconciles them in a text of its own. */
export interface Contradiction {
  readonly trait: Trait;
  readonly plus: PositionTerm;
  readonly minus: PositionTerm;
}

/** Which form of each claiming entry a reading tells, so that it holds one truth about its reader. */
export interface Plan {
  readonly forms: ReadonlyMap<string, Form>;
  /** Keys of optional entries that would contradict the others. */
  readonly leftOut: ReadonlySet<string>;
  readonly contradictions: readonly Contradiction[];
}

interface Choice {
  readonly claimant: Claimant;
  readonly form: Form;
}

const traitOf = (claim: Claim): Trait => claim.slice(0, -1) as Trait;
const opposite = (claim: Claim): Claim => `${traitOf(claim)}${claim.endsWith('+') ? '-' : '+'}`;

/** The forms for the group of the companion number. */
const fittingForms = (book: Book, { key, companion }: Claimant): Form[] =>
  book.entry(key).filter(({ when }) => !when || companion === null || when === concordOf(companion ?? 0));

/** What the entries of a position claim that leave no choice of a form. */
const settledClaims = (book: Book, claimants: readonly Claimant[], at: PositionTerm): Set<Claim> =>
  new Set(
    claimants
      .filter(({ position }) => position === at)
      .map((claimant) => fittingForms(book, claimant))
      .flatMap(([form, ...others]) => (form && others.length === 0 ? form.traits : [])),
  );

/**
 * The form that the reader gets: of the fitting ones, the one that the hash chooses. Where there is a choice, it leaves out
 * forms that deny what another entry of the same position must claim, since one page cannot be said to contradict another.
 */
const formOf = (book: Book, person: string, claimant: Claimant, settled: ReadonlySet<Claim>): Form => {
  const fitting = fittingForms(book, claimant);
  const agreeing = fitting.filter(({ traits }) => !traits.some((claim) => settled.has(opposite(claim))));
  const forms = fitting.length > 1 && agreeing.length > 0 ? agreeing : fitting;
  const form = forms[pick(person, claimant.key, forms.length)];
  if (!form) throw new Error(`No form of ${claimant.key} fits the reader`);
  return form;
};

/** Whether a form claims a trait whose other pole is claimed already, with no text that bridges it. */
const clashes = (claimed: ReadonlySet<Claim>, bridged: ReadonlySet<Trait>, form: Form): boolean =>
  form.traits.some((claim) => {
    const trait = traitOf(claim);
    return claimed.has(opposite(claim)) && !bridged.has(trait) && !form.bridges.includes(trait);
  });

const holdersOf = (choices: readonly Choice[], claim: Claim): PositionTerm[] =>
  choices.filter(({ form }) => form.traits.includes(claim)).map(({ claimant }) => claimant.position);

/** Both poles of a trait, from two different positions where there are two. */
const contradictionOf = (choices: readonly Choice[], trait: Trait): Contradiction[] => {
  const plus = holdersOf(choices, `${trait}+`);
  const minus = holdersOf(choices, `${trait}-`);
  const apart = plus.find((position) => minus.some((other) => other !== position)) ?? plus[0];
  const other = minus.find((position) => position !== apart) ?? minus[0];
  return apart && other ? [{ trait, plus: apart, minus: other }] : [];
};

/**
 * Chooses the forms of all entries that claim something of the reader. Optional entries come last, and one that clashes is
 * left out. What clashes otherwise is a contradiction, which the synthesis reconciles. Pure: the same result and book give
 * the same plan.
 */
export const planTexts = (book: Book, result: ReadingResult): Plan => {
  const person = personKey(result);
  const claimants = claimantsOf(result);
  const choices: Choice[] = [];
  const claimed = new Set<Claim>();
  const bridged = new Set<Trait>();
  const leftOut = new Set<string>();
  const optionalLast = [
    ...claimants.filter(({ optional }) => !optional),
    ...claimants.filter(({ optional }) => optional),
  ];
  for (const claimant of optionalLast) {
    const form = formOf(book, person, claimant, settledClaims(book, claimants, claimant.position));
    if (claimant.optional && clashes(claimed, bridged, form)) {
      leftOut.add(claimant.key);
      continue;
    }
    choices.push({ claimant, form });
    form.traits.forEach((claim) => claimed.add(claim));
    form.bridges.forEach((trait) => bridged.add(trait));
  }
  return {
    forms: new Map(choices.map(({ claimant, form }) => [claimant.key, form])),
    leftOut,
    contradictions: TRAIT_NAMES.filter((trait) => !bridged.has(trait)).flatMap((trait) =>
      contradictionOf(choices, trait),
    ),
  };
};
