export const known = 1;
