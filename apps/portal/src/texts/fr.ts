import type { Texts } from './en.js';
import { account } from './fr/account.js';
import { common } from './fr/common.js';
import { problems } from './fr/problems.js';
import { readings } from './fr/readings.js';
import { webhooks } from './fr/webhooks.js';

/** The French texts of the portal. */
export const fr: Texts = { ...common, ...problems, ...readings, ...account, ...webhooks };
