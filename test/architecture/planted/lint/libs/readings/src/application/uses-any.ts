// caught by: @typescript-eslint/no-explicit-any: any
export const anything: any = 1;
