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
