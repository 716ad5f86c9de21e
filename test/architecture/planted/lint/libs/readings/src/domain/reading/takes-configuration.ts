// caught by: no-restricted-properties: configuration
export const home = process.env['HOME'];
