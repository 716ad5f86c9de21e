import { describe, expect, it } from '@jest/globals';
import { ConfigError, loadConfig, settingNames } from '#platform/config/load-config.js';
import { settings as platform } from '#platform/config/settings.js';
import { MODULES } from './modules.js';
import { settings } from './settings.js';

const KEY = Buffer.alloc(32, 7).toString('base64');
const REQUIRED = {
  DATABASE_URL: 'postgresql://app:hunter2@localhost:5432/app',
  EVENTSTORE_URL: 'esdb://localhost:2113?tls=false',
  ENCRYPTION_KEYS: `k1:${KEY}`,
  DIGEST_KEY: KEY,
};

const messageOf = (environment: Record<string, string>): string => {
  try {
    loadConfig(settings, environment);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
  throw new Error('The configuration was accepted');
};

describe('the settings of the service', () => {
  it('are those of the platform and of each module, without duplicate names', () => {
    const names = [platform.shape, ...MODULES.map((module) => module.settings)].flatMap(Object.keys);
    expect(names.toSorted()).toEqual([...settingNames(settings)].toSorted());
    expect(new Set(names).size).toBe(names.length);
  });

  it.each([
    [{}, true],
    [{ HOST: '::1' }, true],
    [{ HOST: '0.0.0.0' }, false],
    [{ HOST: '0.0.0.0', PUBLIC_URL: 'https://readings.example.com' }, true],
    [{ PUBLIC_URL: 'http://localhost:3000' }, true],
    [{ PUBLIC_URL: 'http://readings.example.com' }, false],
    [{ PUBLIC_URL: 'https://example.com/readings' }, false],
  ])('take a portal only where browsers keep its cookie: %j', (given, isTaken) => {
    const load = () => loadConfig(settings, { ...REQUIRED, PORTAL: '1', ...given });
    if (isTaken) expect(load().PORTAL).toBe(true);
    else expect(load).toThrow(/PORTAL: needs PUBLIC_URL/);
    expect(() => loadConfig(settings, { ...REQUIRED, ...given })).not.toThrow();
  });

  it('take origins of frames, and nothing that would end the list', () => {
    const load = (PORTAL_FRAME_ANCESTORS: string) =>
      loadConfig(settings, { ...REQUIRED, PORTAL_FRAME_ANCESTORS });
    expect(load('https://a.example, https://b.example:8443').PORTAL_FRAME_ANCESTORS).toEqual([
      'https://a.example',
      'https://b.example:8443',
    ]);
    for (const text of [
      '*',
      "'self'",
      'https://a.example/path',
      'https://a.example;script-src',
      'http://a.example',
    ])
      expect(() => load(text)).toThrow(/PORTAL_FRAME_ANCESTORS/);
  });

  it('read codes of accounts, and keep those that are left out', () => {
    const load = (LEDGER_ACCOUNTS: string) =>
      loadConfig(settings, { ...REQUIRED, LEDGER_ACCOUNTS }).LEDGER_ACCOUNTS;
    expect(load('revenue=706000, breakage=758')).toMatchObject({
      revenue: '706000',
      breakage: '758',
      receivable: '1200',
    });
    for (const wrong of ['income=4000', 'revenue', 'revenue=', `revenue=${'4'.repeat(41)}`])
      expect(() => load(wrong)).toThrow(/LEDGER_ACCOUNTS: must be <account>=<code/);
  });

  it('read ranges and schedules', () => {
    const given = { WEBHOOK_ALLOW_CIDRS: '10.0.0.0/8, 127.0.0.0/8', WEBHOOK_RETRY_SCHEDULE_MS: '0,50' };
    expect(loadConfig(settings, { ...REQUIRED, ...given })).toMatchObject({
      WEBHOOK_ALLOW_CIDRS: ['10.0.0.0/8', '127.0.0.0/8'],
      WEBHOOK_RETRY_SCHEDULE_MS: [0, 50],
    });
  });

  it.each([
    ['TOKEN_JWKS_URL', 'http://canary/jwks.json'],
    ['TOKEN_JWKS', '{"keys":[{"kty":"OKP","d":"canary"}]}'],
    ['READINGS_IN_FLIGHT', 'canary'],
    ['RESERVATION_FENCE_MS', '-1'],
    ['WEBHOOK_ALLOW_HTTP', 'canary'],
    ['WEBHOOK_ALLOW_CIDRS', '10.0.0.0/8,10.0.0.0/99'],
    ['WEBHOOK_PROXY_URL', 'canary:3128'],
    ['WEBHOOK_PROXY_URL', 'https://worker:canary@proxy:3128'],
    ['WEBHOOK_RETRY_SCHEDULE_MS', '0,canary'],
    ['WEBHOOK_RETRY_SCHEDULE_MS', '0,3153600000001'],
    ['ENQUEUE_TIMEOUT_MS', '3000000000'],
  ])('name %s when it is %p, without printing the value', (name, value) => {
    const message = messageOf({ ...REQUIRED, [name]: value });
    expect(message).toMatch(new RegExp(`^  ${name}: `, 'm'));
    expect(message).not.toMatch(/canary/i);
  });
});
