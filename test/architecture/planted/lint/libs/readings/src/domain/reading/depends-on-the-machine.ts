// caught by: no-restricted-syntax: time zone
// caught by: no-restricted-syntax: time zone
export const year = (date: Date): number => date.getFullYear();
export const text = (date: Date): string => date.toLocaleDateString();
export const sure = (date: Date): number => date.getUTCFullYear();
