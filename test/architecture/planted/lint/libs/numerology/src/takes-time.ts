// caught by: own(no-current-date): time
export const today = new Date();
