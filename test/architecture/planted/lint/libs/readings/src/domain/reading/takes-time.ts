// caught by: no-restricted-properties: time
// caught by: no-restricted-syntax: time
// caught by: no-restricted-properties: time
// caught by: no-restricted-syntax: time
export const instants = [Date.now(), new Date(), performance.now(), Date()];
export const given = new Date(0);
