import type { UrlRefusal } from '../contracts/refusals.js';
import { checkWebhookUrl, type UrlPolicy } from '../domain/url/webhook-url.js';
import type { Config } from '../settings.js';

export const urlPolicy = (config: Config): UrlPolicy => ({
  allowHttp: config.WEBHOOK_ALLOW_HTTP,
  allowCidrs: config.WEBHOOK_ALLOW_CIDRS,
});

/**
 * Why a URL is no webhook URL; `null`: it may be one. Judges its text alone. Whoever could have a name resolved here would
 * learn which names exist inside: what a name leads to is checked at each attempt.
 */
export const urlRefusal = (text: string, config: Config): UrlRefusal | null => {
  const verdict = checkWebhookUrl(text, urlPolicy(config));
  return verdict.ok ? null : { outcome: verdict.code, detail: verdict.detail };
};
