/** A form gives minutes; the API takes RFC 3339. What is neither goes to the API, which says so. */
export const utcInstant = (typed: string): string =>
  /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/.test(typed) ? `${typed}:00Z` : typed;
