import { expect, it } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { settingNames } from '@app/platform/config/load-config.js';
import { settings } from '../../apps/service/src/settings.js';
import { CHART } from '../support/helm/charts.js';

/** Those that the chart sets itself, or that make no sense in a cluster. */
const NOT_FOR_VALUES = new Set([
  'HOST',
  'PORT',
  'METRICS_HOST',
  'METRICS_PORT',
  'WORKER_ROLES',
  'KEY_DIRECTORY',
  'DISK_FOLDER',
  'DISK_RESERVE_MIB',
  'OPERATOR_KEY_FILE',
  'OPERATOR_NAME',
]);
/** They hold secrets, so the chart takes them from its Secrets alone. */
const FROM_SECRETS = [
  'DATABASE_URL',
  'DATABASE_OWNER_URL',
  'EVENTSTORE_URL',
  'ENCRYPTION_KEYS',
  'DIGEST_KEY',
];
const SECRET = new Set([...FROM_SECRETS, 'TOKEN_SIGNING_KEY']);

/** What Node and the libraries read. */
const OF_LIBRARIES =
  '^(OTEL_[A-Z_]+|NODE_OPTIONS|NODE_EXTRA_CA_CERTS|RAYON_NUM_THREADS|(https?|grpc|no|no_grpc)_proxy)$';

const known = settingNames(settings);

it('values.schema.json names the settings that an installation may give', () => {
  const names = known.filter((name) => !NOT_FOR_VALUES.has(name));
  for (const name of [...NOT_FOR_VALUES, ...SECRET]) expect(known).toContain(name);
  const descriptions = settings.shape as Readonly<Record<string, { readonly description?: string }>>;
  const wanted = {
    type: 'object',
    additionalProperties: false,
    patternProperties: { [OF_LIBRARIES]: { type: 'string' } },
    properties: Object.fromEntries(
      names
        .filter((name) => !SECRET.has(name))
        .map((name) => [name, { type: 'string', description: descriptions[name]!.description }]),
    ),
  };
  const secretSetting = { type: 'string', enum: names.filter((name) => !FROM_SECRETS.includes(name)) };
  const path = join(CHART, 'values.schema.json');
  const schema = JSON.parse(readFileSync(path, 'utf8')) as { definitions: Record<string, unknown> };
  if (process.env['CHART_UPDATE']) {
    const definitions = { ...schema.definitions, settings: wanted, secretSetting };
    writeFileSync(path, `${JSON.stringify({ ...schema, definitions }, null, 2)}\n`);
  } else expect(schema.definitions).toMatchObject({ settings: wanted, secretSetting });
});
