import type { ReadingResult } from '@app/numerology/index.js';
import type { Book } from '../content/book/book.js';
import type { PositionTerm } from '../content/book/frame-families.js';
import type { Form } from '../content/book/shape.js';
import { type Claim, type Trait, TRAIT_NAMES } from '../content/book/traits.js';
import { type Claimant, claimantsOf } from './claimants.js';
import { concordOf, personKey, pick } from './choice.js';

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

export const traitOf = (claim: Claim): Trait => claim.slice(0, -1) as Trait;
const opposite = (claim: Claim): Claim => `${traitOf(claim)}${claim.endsWith('+') ? '-' : '+'}`;

/** The forms that fit the reader, the one the hash prefers first. */
const candidatesOf = (book: Book, person: string, { key, companion }: Claimant): readonly Form[] => {
  const entry = book.entry(key);
  const fitting = entry.filter(
    ({ when }) => !when || companion === null || when === concordOf(companion ?? 0),
  );
  const start = pick(person, key, fitting.length);
  return [...fitting.slice(start), ...fitting.slice(0, start)];
};

/** How many traits of a form have their other pole claimed already, and no text that bridges them. */
const clashesOf = (claimed: ReadonlySet<Claim>, bridged: ReadonlySet<Trait>, form: Form): number =>
  form.traits.filter((claim) => {
    const trait = traitOf(claim);
    return claimed.has(opposite(claim)) && !bridged.has(trait) && !form.bridges.includes(trait);
  }).length;

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
 * Chooses the forms of all entries that claim something of the reader. Entries with one form come first, then those with
 * a choice, which take the form with the fewest clashes; an optional entry that still clashes is left out. What clashes
 * after that is a contradiction, which the synthesis reconciles. Pure: the same result and book give the same plan.
 */
export const planTexts = (book: Book, result: ReadingResult): Plan => {
  const person = personKey(result);
  const claimants = claimantsOf(result).map((claimant) => ({
    claimant,
    candidates: candidatesOf(book, person, claimant),
  }));
  const rank = ({ claimant, candidates }: (typeof claimants)[number]): number =>
    claimant.optional ? 2 : candidates.length > 1 ? 1 : 0;
  const choices: Choice[] = [];
  const claimed = new Set<Claim>();
  const bridged = new Set<Trait>();
  const leftOut = new Set<string>();
  for (const { claimant, candidates } of claimants.toSorted((one, other) => rank(one) - rank(other))) {
    const [best] = candidates
      .map((form) => ({ form, clashes: clashesOf(claimed, bridged, form) }))
      .toSorted((one, other) => one.clashes - other.clashes);
    if (!best) throw new Error(`No form of ${claimant.key} fits the reader`);
    if (claimant.optional && best.clashes > 0) {
      leftOut.add(claimant.key);
      continue;
    }
    choices.push({ claimant, form: best.form });
    best.form.traits.forEach((claim) => claimed.add(claim));
    best.form.bridges.forEach((trait) => bridged.add(trait));
  }
  return {
    forms: new Map(choices.map(({ claimant, form }) => [claimant.key, form])),
    leftOut,
    contradictions: TRAIT_NAMES.filter((trait) => !bridged.has(trait)).flatMap((trait) =>
      contradictionOf(choices, trait),
    ),
  };
};
