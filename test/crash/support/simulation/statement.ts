export type Values = readonly unknown[];
/** As `pg` takes it. */
export type Query = string | { readonly text: string; readonly values?: Values };
/** SQL on one line, and its parameters. */
export type Statement = readonly [text: string, values: Values];

export const statementOf = (asked: Query, values: Values = []): Statement => {
  const [text, given] = typeof asked === 'string' ? [asked, values] : [asked.text, asked.values ?? []];
  return [text.trim().replaceAll(/\s+/g, ' '), given];
};
