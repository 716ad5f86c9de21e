import { within } from '@app/platform/async/within.js';
import { Inject, Injectable } from '@app/platform/injection.js';
import { CONFIG } from '@app/platform/tokens.js';
import type { UrlRefusal } from '../contracts/refusals.js';
import { isAddress, isReachable } from '../domain/url/addresses.js';
import { checkWebhookUrl, type UrlPolicy } from '../domain/url/webhook-url.js';
import { RESOLVE_HOST, type ResolveHost } from './resolve-host.js';
import type { Config } from '../settings.js';

/** The URL may be called. `unresolvable`: its host has no address yet; one may come later. */
interface UsableUrl {
  readonly outcome: 'usable';
  readonly warnings: readonly 'unresolvable'[];
}

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

  async check(text: string): Promise<UsableUrl | UrlRefusal> {
    const verdict = checkWebhookUrl(text, this.policy);
    if (!verdict.ok) return { outcome: verdict.code, detail: verdict.detail };
    if (isAddress(verdict.url.hostname)) return { outcome: 'usable', warnings: [] };
    const { hostname } = verdict.url;
    const addresses = (await within(RESOLUTION_MS, this.resolve(hostname))) ?? [];
    if (addresses.some((address) => !isReachable(address, this.policy.allowCidrs))) {
      return { outcome: 'webhook_url_blocked', detail: 'leads to a blocked address' };
    }
    return { outcome: 'usable', warnings: addresses.length === 0 ? ['unresolvable'] : [] };
  }
}
