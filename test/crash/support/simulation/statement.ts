export type Values = readonly unknown[];
/** A statement in a form that `pg` accepts. */
export type Query = string | { readonly text: string; readonly values?: Values };
/** The SQL on one line, and its parameters. */
export type Statement = readonly [text: string, values: Values];

export const statementOf = (asked: Query, values: Values = []): Statement => {
  const [text, given] = typeof asked === 'string' ? [asked, values] : [asked.text, asked.values ?? []];
  return [text.trim().replaceAll(/\s+/g, ' '), given];
};
