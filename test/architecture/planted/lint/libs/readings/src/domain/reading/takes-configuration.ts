// caught by: eslint(no-restricted-properties): configuration
export const home = process.env['HOME'];
