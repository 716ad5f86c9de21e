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
