// caught by: own(no-local-time): time zone
// caught by: own(no-local-time): time zone
export const year = (date: Date): number => date.getFullYear();
export const text = (date: Date): string => date.toLocaleDateString();
export const sure = (date: Date): number => date.getUTCFullYear();
