// caught by: eslint(no-restricted-properties): time
// caught by: own(no-current-date): time
// caught by: eslint(no-restricted-properties): time
// caught by: own(no-current-date): time
export const instants = [Date.now(), new Date(), performance.now(), Date()];
export const given = new Date(0);
