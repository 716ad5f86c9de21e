/** A row as callers see it: its columns have the record's names and order, and its instants become RFC 3339. */
export const asRecord = <Record extends object>(row: object): Record =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, value instanceof Date ? value.toISOString() : value]),
  ) as Record;
