// caught by: typescript(TS2322): not assignable
export const credits: number = 'twenty';
