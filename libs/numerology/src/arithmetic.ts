/** The numbers that method `evan-1` does not reduce. 44, 55… are never masters. */
export const MASTERS = [11, 22, 33] as const;

export type Digit = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;
export const DIGITS: readonly Digit[] = [1, 2, 3, 4, 5, 6, 7, 8, 9];

export const isMaster = (n: number): boolean => n === 11 || n === 22 || n === 33;

/** ds(n): the sum of the decimal digits of a whole number n ≥ 0. */
export function digitSum(n: number): number {
  let sum = 0;
  for (let rest = n; rest > 0; rest = Math.floor(rest / 10)) sum += rest % 10;
  return sum;
}

/** root(n) = 1 + ((n − 1) mod 9), and 0 for 0: the final digit of a reduction that does not keep masters. */
export const root = (n: number): number => (n === 0 ? 0 : 1 + ((n - 1) % 9));

/**
 * chain(n): every value of the reduction of n, including the first and the last.
 * With `keepMasters` (the default) the chain ends at 11, 22 or 33 (Decoz convention); without it, only at a digit.
 */
export function chain(n: number, keepMasters = true): number[] {
  const visited = [n];
  let value = n;
  while (value > 9 && !(keepMasters && isMaster(value))) {
    value = digitSum(value);
    visited.push(value);
  }
  return visited;
}

/** red(n): n reduced to a digit or a master number, i.e. the last value of `chain(n)`. */
export function reduce(n: number): number {
  let value = n;
  while (value > 9 && !isMaster(value)) value = digitSum(value);
  return value;
}

/** A number of the theme with the steps of its reduction. */
export interface Figure {
  /** the last value of `chain`: 0–9, 11, 22 or 33 */
  readonly value: number;
  /** 1–9, a master reduced to its digit (0 only where the figure itself may be 0) */
  readonly root: number;
  readonly master: boolean;
  readonly karmicDebt: KarmicDebt | null;
  readonly chain: readonly number[];
  /** the printed form: `13/4` for a karmic debt, `11/2` for a master, else the value */
  readonly display: string;
}

export type KarmicDebt = 13 | 14 | 16 | 19;

export const isKarmicDebt = (n: number): n is KarmicDebt => n === 13 || n === 14 || n === 16 || n === 19;

/** The karmic debt in a chain before its last value, or null. */
export const debtIn = (visited: readonly number[]): KarmicDebt | null =>
  visited.slice(0, -1).find(isKarmicDebt) ?? null;

/** A figure that keeps masters and never has a debt: Active, Heredity, Maturity, periods, pinnacles. */
export const figure = (n: number): Figure => build(chain(n), null);

/** A figure that keeps masters and flags 13, 14, 16 and 19: Life Path, Birthday, Expression, Soul Urge, Personality. */
export function indebtedFigure(n: number): Figure {
  const visited = chain(n);
  return build(visited, debtIn(visited));
}

/** A figure reduced to a single digit: Balance, Rational Thought, Subconscious Self. */
export const plainFigure = (n: number): Figure => build(chain(n, false), null);

function build(visited: readonly number[], karmicDebt: KarmicDebt | null): Figure {
  const value = visited[visited.length - 1] ?? 0;
  return {
    value,
    root: root(value),
    master: isMaster(value),
    karmicDebt,
    chain: visited,
    display: displayed(value, karmicDebt),
  };
}

function displayed(value: number, karmicDebt: KarmicDebt | null): string {
  if (karmicDebt !== null) return `${karmicDebt}/${value}`;
  return isMaster(value) ? `${value}/${root(value)}` : String(value);
}
