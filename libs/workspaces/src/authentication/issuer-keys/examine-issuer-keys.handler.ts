import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { CONFIG } from '#platform/tokens.js';
import { ExamineIssuerKeys, type IssuerKeysReport } from '../../contracts/queries.js';
import type { TokenSettings } from '../bearer.authenticator.js';
import { fetchKeySet } from './fetch-key-set.js';
import { KEY_SET_BOUNDS } from './issuer-keys.js';
import { readKeySet } from './key-set.js';

@QueryHandler(ExamineIssuerKeys)
export class ExamineIssuerKeysHandler implements IQueryHandler<ExamineIssuerKeys> {
  constructor(@Inject(CONFIG) private readonly config: TokenSettings) {}

  async execute(): Promise<IssuerKeysReport> {
    const { TOKEN_ISSUER: issuer, TOKEN_JWKS: local, TOKEN_JWKS_URL: url } = this.config;
    const none = { used: 0, unused: [], failure: null };
    if (!issuer || (!local && !url)) return { source: 'nowhere', ...none };
    if (local) return { source: 'configuration', ...this.report(local) };
    try {
      return { source: 'url', ...this.report(await fetchKeySet(url!, KEY_SET_BOUNDS)) };
    } catch (error) {
      return { source: 'url', ...none, failure: error instanceof Error ? error.message : 'unknown' };
    }
  }

  private report(value: unknown): Omit<IssuerKeysReport, 'source'> {
    const read = readKeySet(value, KEY_SET_BOUNDS.keys);
    if (!read) return { used: 0, unused: [], failure: 'the response is not a key set' };
    return { used: read.keys.length, unused: read.unused, failure: null };
  }
}
