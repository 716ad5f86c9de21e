// caught by: eslint(no-restricted-properties): random
export const id = Math.random();
