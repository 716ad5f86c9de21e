import { account } from './en/account.js';
import { common } from './en/common.js';
import { problems } from './en/problems.js';
import { readings } from './en/readings.js';
import { webhooks } from './en/webhooks.js';

/** The English texts of the portal, and the shape of the others. */
export const en = { ...common, ...problems, ...readings, ...account, ...webhooks };

/** The texts of a language. The compiler compares the other ones with the English. */
export type Texts = Widened<typeof en>;

/** A catalogue of another language. */
export type Widened<T> = {
  readonly [Key in keyof T]: T[Key] extends string
    ? string
    : T[Key] extends (...values: infer Values) => string
      ? (...values: Values) => string
      : Widened<T[Key]>;
};
