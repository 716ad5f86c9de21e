import type { Forms } from '../message.js';

/**
 * The traits that a text may claim of its reader, each with its two poles. `order+` claims the first pole, `order-` the
 * second. Two texts that claim opposite poles of one trait clash, unless a written bridge joins them.
 */
export const TRAITS = {
  initiative: ['starts unasked', 'waits to be asked'],
  decision: ['decides fast', 'weighs for long'],
  independence: ['does things alone', 'does things with others'],
  help: ['asks for help readily', 'hardly ever asks for help'],
  listening: ['hears what is not said', 'misses signals'],
  tact: ['chooses gentle words', 'says it straight'],
  speech: ['says what goes on inside', 'keeps it inside'],
  play: ['takes things lightly', 'takes things seriously'],
  focus: ['finishes one thing', 'starts many things'],
  order: ['keeps things in order', 'lives in some disorder'],
  patience: ['lets things take their time', 'hurries'],
  change: ['seeks what is new', 'loves what stays the same'],
  risk: ['tries and sees', 'checks before trying'],
  freedom: ['keeps the door open', 'binds and commits'],
  care: ['looks after others daily', 'looks after others by fits'],
  limits: ['says no in time', 'gives more than is there'],
  solitude: ['needs to be alone', 'needs company'],
  depth: ['digs into one subject', 'skims many subjects'],
  doubt: ['doubts', 'is sure'],
  trust: ['lets people in early', 'keeps people at a distance'],
  command: ['takes charge', 'leaves the lead to others'],
  measure: ['counts and compares', 'does not count'],
  ambition: ['aims for something large', 'is content with enough'],
  breadth: ['cares for what is far away', 'cares for what is near'],
  release: ['lets go easily', 'holds on'],
  feeling: ['shows feelings', 'hides feelings'],
  intuition: ['knows before the proof', 'wants the proof first'],
  detail: ['sees the detail', 'sees the whole'],
} as const;

export type Trait = keyof typeof TRAITS;
export const TRAIT_NAMES = Object.keys(TRAITS) as readonly Trait[];
export type Claim = `${Trait}+` | `${Trait}-`;

export const isTrait = (value: unknown): value is Trait => typeof value === 'string' && value in TRAITS;

export const isClaim = (value: unknown): value is Claim =>
  typeof value === 'string' && /[+-]$/.test(value) && isTrait(value.slice(0, -1));

/** Ages (completed years) with a text of their own. The text without a band is for 30–59, and for who has no other. */
export const AGE_BANDS = ['7-15', '16-29', '60-79', '80+'] as const;
export type AgeBand = (typeof AGE_BANDS)[number];

/** The three groups of roots that tradition counts together; a form can be written for each group of a companion. */
export const CONCORDS = ['1-5-7', '2-4-8', '3-6-9'] as const;
export type Concord = (typeof CONCORDS)[number];

/** One way to tell an entry. */
export interface Form {
  readonly text: Forms;
  /** Only for a reader whose companion number (`EntryShape.by`) is in this group. */
  readonly when?: Concord;
  /** What the text claims of its reader. */
  readonly traits: readonly Claim[];
  /** Traits whose two poles this text names and reconciles. */
  readonly bridges: readonly Trait[];
  readonly ages: Readonly<Partial<Record<AgeBand, Forms>>>;
}

/** An entry of the book: one form, or several of which composition chooses one. */
export type Entry = readonly Form[];

/** What one entry must be. */
export interface EntryShape {
  readonly kind: 'entry';
  /** Words of each form, give or take a fifth; `null` for a label, which has no band. */
  readonly words: number | null;
  /** The least number of forms. */
  readonly forms: number;
  /** Forms are chosen by this number's group and carry `when`; without it a stable hash chooses. */
  readonly by?: 'lifePath' | 'expression' | 'soulUrge';
  /** Ages that every form must have a text for. Others are allowed. */
  readonly ages: readonly AgeBand[];
  /** Each form must state what it claims. */
  readonly traits: boolean;
  /** Placeholders that every text uses, at least once each. */
  readonly uses: readonly string[];
}

export interface ShapeTree {
  readonly [key: string]: EntryShape | ShapeTree;
}

/** A text of `words` words. */
export const prose = (words: number, more: Partial<Omit<EntryShape, 'kind' | 'words'>> = {}): EntryShape => ({
  kind: 'entry',
  words,
  forms: more.by ? 3 : 1,
  ages: [],
  traits: false,
  uses: [],
  ...more,
});

/** A title, a term or a few words in a table. */
export const label = (...uses: string[]): EntryShape => ({ ...prose(0, { uses }), words: null });

export const isEntryShape = (shape: EntryShape | ShapeTree): shape is EntryShape => shape['kind'] === 'entry';

/** One entry for each key. */
export const per = <K extends string | number, S extends EntryShape | ShapeTree>(
  keys: readonly K[],
  shape: S,
): Readonly<Record<K, S>> => Object.fromEntries(keys.map((key) => [key, shape])) as Record<K, S>;
