import { chain, isMaster, root } from './reduce.js';

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
