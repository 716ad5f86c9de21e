/** SQL with its parameters: what a projection answers, and all it may do. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Tagged template: `sql\`update t set a = ${1}\`` becomes text with $1 and its values. */
export const sql = (strings: TemplateStringsArray, ...values: readonly unknown[]): Statement => ({
  text: strings.reduce((text, part, index) => `${text}$${index}${part}`),
  values,
});
