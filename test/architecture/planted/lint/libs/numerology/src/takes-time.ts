// caught by: no-restricted-syntax: time
export const today = new Date();
