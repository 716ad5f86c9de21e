import type { ReadingResult } from '#numerology/index.js';
import type { Book } from '../content/book/book.js';
import type { Form } from '../content/book/shape.js';
import { type Claim, type Trait, TRAIT_NAMES } from '../content/book/traits.js';
import { type Claimant, claimantsOf } from './claimants.js';
import { concordOf, personKey, pick } from './choice.js';
import type { PositionTerm } from './facts.js';

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
