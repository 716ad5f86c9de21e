// caught by: no-restricted-properties: random
export const id = Math.random();
