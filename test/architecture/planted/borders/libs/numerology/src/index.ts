export const reduce = (value: number): number => value % 9;
