import { Inject, Injectable } from '@nestjs/common';
import { within } from '@app/platform/process/within.js';
import { CONFIG } from '@app/platform/tokens.js';
import { WebhookRefused } from '../contracts/errors.js';
import { isAddress, isReachable } from '../domain/url/addresses.js';
import { checkWebhookUrl, type UrlPolicy } from '../domain/url/webhook-url.js';
import { RESOLVE_HOST, type ResolveHost } from './resolve-host.js';
import type { Config } from '../settings.js';

const RESOLUTION_MS = 2_000;

export const urlPolicy = (config: Config): UrlPolicy => ({
  allowHttp: config.WEBHOOK_ALLOW_HTTP,
  allowCidrs: config.WEBHOOK_ALLOW_CIDRS,
});

/** Checks a webhook URL: first its text, then the addresses its name currently has. Sends nothing to it. */
@Injectable()
export class UrlCheck {
  private readonly policy: UrlPolicy;

  constructor(
    @Inject(CONFIG) config: Config,
    @Inject(RESOLVE_HOST) private readonly resolve: ResolveHost,
  ) {
    this.policy = urlPolicy(config);
  }

  /**
   * @returns a warning when the name has no address yet
   * @throws WebhookRefused invalid_webhook_url or webhook_url_blocked
   */
  async require(text: string): Promise<readonly 'unresolvable'[]> {
    const verdict = checkWebhookUrl(text, this.policy);
    if (!verdict.ok) throw new WebhookRefused(verdict.code, verdict.detail);
    if (isAddress(verdict.url.hostname)) return [];
    const { hostname } = verdict.url;
    const addresses = (await within(RESOLUTION_MS, this.resolve(hostname))) ?? [];
    if (addresses.some((address) => !isReachable(address, this.policy.allowCidrs))) {
      throw new WebhookRefused('webhook_url_blocked', 'leads to a blocked address');
    }
    return addresses.length === 0 ? ['unresolvable'] : [];
  }
}
