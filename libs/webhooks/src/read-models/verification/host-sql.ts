/** SQL: the host of a row of `verification`. Rows of the previous version have none: their URL stands for it. */
export const PROBED_HOST = 'coalesce(verification.host, verification.url)';
