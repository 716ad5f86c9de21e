/** What `ops ledger statement --json` tells, for reading at a terminal. */
export const statement = (ledger: unknown): string => JSON.stringify(ledger, null, 2);
