/** The value below which a share of the numbers lies; 0 of no numbers. */
export const quantile = (numbers: readonly number[], share: number): number =>
  numbers.toSorted((one, other) => one - other)[
    Math.min(Math.floor(numbers.length * share), numbers.length - 1)
  ] ?? 0;
