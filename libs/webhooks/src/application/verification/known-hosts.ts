import { Inject, Injectable } from '@nestjs/common';
import type pg from 'pg';
import { POSTGRES } from '#platform/postgres/pool.js';
import { CONFIG } from '#platform/tokens.js';
import { hostOfUrl } from '../../domain/url/webhook-url.js';
import type { Config } from '../../settings.js';

/** The hosts that a workspace sends to, or has sent to. */
@Injectable()
export class KnownHosts {
  constructor(
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(CONFIG) private readonly config: Pick<Config, 'WEBHOOK_VERIFY_ENDPOINTS'>,
  ) {}

  /** Whether events may be sent to this URL at once. @param url a webhook URL that was checked */
  async needsNoProbe(workspaceId: string, url: string): Promise<boolean> {
    if (!this.config.WEBHOOK_VERIFY_ENDPOINTS) return true;
    const { rows } = await this.pool.query<{ url: string }>(
      'select url from webhooks.endpoint where workspace_id = $1 and verified',
      [workspaceId],
    );
    const host = hostOfUrl(url);
    return rows.some((known) => hostOfUrl(known.url) === host);
  }
}
