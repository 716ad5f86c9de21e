// caught by: typescript(TS2578): Unused
// @ts-expect-error a text is no number
export const credits: number = 20;
