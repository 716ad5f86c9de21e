import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { projectPath } from '#platform/project-path.js';

interface Service {
  readonly image: string;
  readonly build?: string;
  readonly ports?: readonly string[];
  readonly networks?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly cap_drop?: readonly string[];
  readonly cap_add?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly user?: string;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly command?: readonly string[];
  readonly logging?: { readonly driver: string; readonly options: Readonly<Record<string, string>> };
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
}

const compose = (file: string): Compose =>
  parse(readFileSync(projectPath(file), 'utf8'), { merge: true }) as Compose;

const { services, networks } = compose('docker-compose.yml');
/** EventStoreDB in place of KurrentDB. */
const { services: alternatives } = compose('docker-compose.eventstoredb.yml');
const serviceNamed = (name: string): Service => services[name]!;
const dockerfile = readFileSync(projectPath('Dockerfile'), 'utf8');

const DIGEST = /@sha256:[0-9a-f]{64}$/;
/** Images that are not pinned by digest yet; docs/operations.md explains how to pin them. */
const NOT_PINNED = {
  EVENTSTORE_IMAGE: 'kurrentplatform/kurrentdb:26.0.3',
  EVENTSTOREDB_IMAGE: 'eventstore/eventstore:23.10.6-jammy',
  GENCERT_IMAGE: 'eventstore/es-gencert-cli:1.0.2',
};

describe('the compose file', () => {
  it('publishes only the API, and only on this machine', () => {
    const published = Object.entries(services).filter(([, { ports }]) => ports !== undefined);
    expect(published.map(([name]) => name)).toEqual(['api']);
    for (const port of serviceNamed('api').ports!) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  it('takes every capability from each container, but for what the images need that begin as root', () => {
    for (const { cap_drop: dropped, security_opt: options } of Object.values(services)) {
      expect(dropped).toEqual(['ALL']);
      expect(options).toEqual(['no-new-privileges:true']);
    }
    const given = [services, alternatives].flatMap((among) =>
      Object.entries(among).flatMap(([name, { cap_add: caps }]) => (caps ? [[name, caps]] : [])),
    );
    expect(Object.fromEntries(given)).toEqual({
      certificates: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER'],
      postgres: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETGID', 'SETUID'],
    });
  });

  it('keeps no log for ever: Docker’s own default fills the disk', () => {
    for (const { logging } of Object.values(services)) {
      expect(logging?.driver).toBe('local');
      expect(logging?.options).toEqual({ 'max-size': '20m', 'max-file': '5' });
    }
  });

  it('keeps the stores on an internal network', () => {
    expect(networks['stores']?.internal).toBe(true);
    for (const store of ['eventstore', 'postgres']) expect(serviceNamed(store).networks).toEqual(['stores']);
  });

  it.each([
    ['KURRENTDB', services],
    ['EVENTSTORE', alternatives],
  ])('runs the event store with the installation’s own certificate and passwords (%s)', (prefix, among) => {
    const { environment = {} } = among['eventstore']!;
    for (const name of ['INSECURE', 'ALLOW_ANONYMOUS_STREAM_ACCESS', 'ALLOW_ANONYMOUS_ENDPOINT_ACCESS'])
      expect(environment).not.toHaveProperty(`${prefix}_${name}`);
    for (const user of ['ADMIN', 'OPS'])
      expect(environment[`${prefix}_DEFAULT_${user}_PASSWORD`]).toMatch(/:\?/);
    for (const name of ['CERTIFICATE_FILE', 'CERTIFICATE_PRIVATE_KEY_FILE', 'TRUSTED_ROOT_CERTIFICATES_PATH'])
      expect(environment[`${prefix}_${name}`]).toMatch(/^\/certificates\//);
    expect(environment[`${prefix}_DB`]).toBe('/var/lib/kurrentdb');
    for (const name of Object.keys(environment)) expect(name).toMatch(new RegExp(`^${prefix}_`));
  });

  it('gives EventStoreDB the settings of KurrentDB, but for the indexes that it does not have', () => {
    const named = (among: Compose['services'], prefix: RegExp): readonly string[] =>
      Object.keys(among['eventstore']!.environment!).map((name) => name.replace(prefix, ''));
    expect(Object.keys(alternatives)).toEqual(['eventstore']);
    const own = named(services, /^KURRENTDB_/).filter((name) => name !== '_SECONDARY_INDEXING__ENABLED');
    expect(named(alternatives, /^EVENTSTORE_/).toSorted()).toEqual(own.toSorted());
  });

  it('keeps the event store’s data in a volume, and gives key and data to the user who runs it', () => {
    const { volumes, environment, user } = serviceNamed('eventstore');
    expect(volumes).toContain(`eventstore:${environment!['KURRENTDB_DB']}`);
    const [command] = serviceNamed('certificates').command!.slice(-1);
    expect(command).toContain(`chown -R ${user} /certificates/node /data`);
    expect(serviceNamed('certificates').volumes).toContain('eventstore:/data');
  });

  it('waits for a leader of the event store, not for a server that answers', () => {
    const [, command] = serviceNamed('eventstore').healthcheck!.test;
    expect(command).toContain('https://localhost:2113/gossip');
    const [, pattern] = /grep -Eq '([^']+)'/.exec(command!) ?? [];
    expect('  "state": "Leader",').toMatch(new RegExp(pattern!));
    expect('  "state": "Unknown",').not.toMatch(new RegExp(pattern!));
  });

  it.each(['api', 'worker'])('gives the %s logins without administrative rights', (name) => {
    const { environment = {}, volumes } = serviceNamed(name);
    const administrators = Object.values(serviceNamed('postgres').environment!);
    expect(administrators).toContain('reading');
    expect(environment['DATABASE_URL']).toMatch(/^postgresql:\/\/reading_app:\$\{DATABASE_PASSWORD:\?/);
    expect(environment['EVENTSTORE_URL']).toMatch(
      /^esdb:\/\/reading-service:\$\{EVENTSTORE_PASSWORD:\?.*tls=true/,
    );
    const others = Object.keys(environment).filter((setting) => /OWNER|ADMIN/.test(setting));
    expect(others).toEqual([]);
    expect(JSON.stringify(environment)).not.toMatch(/\{(POSTGRES|DATABASE_OWNER|EVENTSTORE_ADMIN)_PASSWORD/);
    expect(volumes).toEqual(['roots:/certificates/roots:ro', 'keys:/keys']);
  });

  it('gives administrator passwords only to the stores and to the step that prepares them', () => {
    const knowing = Object.entries(services).filter(([, { environment }]) =>
      /\{(POSTGRES|EVENTSTORE_ADMIN)_PASSWORD/.test(JSON.stringify(environment ?? {})),
    );
    expect(knowing.map(([name]) => name)).toEqual(['eventstore', 'postgres', 'prepare']);
  });

  it('gives the key of the certificate authority only to the step that creates it', () => {
    const having = Object.entries(services).filter(([, { volumes = [] }]) =>
      volumes.some((volume) => volume.startsWith('authority:')),
    );
    expect(having.map(([name]) => name)).toEqual(['certificates']);
  });

  it.each(['certificates', 'eventstore', 'postgres', 'prepare', 'migrate'])(
    'does not give the reading keys to %s, which decrypts no readings',
    (name) => {
      const { volumes = [] } = serviceNamed(name);
      expect(volumes.filter((volume) => volume.startsWith('keys:'))).toEqual([]);
    },
  );

  it('has no default for any secret', () => {
    const text = ['docker-compose.yml', 'docker-compose.eventstoredb.yml']
      .map((file) => readFileSync(projectPath(file), 'utf8').replace(/^\s*#.*$/gm, ''))
      .join('');
    const secrets = [...text.matchAll(/\$\{(\w*(?:PASSWORD|KEYS?)\b)(:?[-?])?/g)];
    expect(secrets.length).toBeGreaterThan(8);
    for (const [, , operator] of secrets) expect(operator).toBe(':?');
  });
});

describe('container images', () => {
  it('are pinned by digest in the compose file, or listed here as not pinned yet', () => {
    const foreign = [...Object.values(services), ...Object.values(alternatives)].filter(
      ({ build }) => build === undefined,
    );
    expect(foreign.length).toBeGreaterThan(0);
    const unpinned = foreign.flatMap(({ image }) => {
      const [, variable, byDefault] = /^\$\{(\w+_IMAGE):-(.+)\}$/.exec(image) ?? [];
      expect(image).toBe(`\${${variable}:-${byDefault}}`);
      return DIGEST.test(byDefault!) ? [] : [[variable, byDefault]];
    });
    expect(Object.fromEntries(unpinned)).toEqual(NOT_PINNED);
  });

  it('are pinned by digest in the Dockerfile, which uses no others', () => {
    const [, base] = /^ARG NODE_IMAGE=(\S+)$/m.exec(dockerfile) ?? [];
    expect(base).toMatch(DIGEST);
    const stages = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
    expect(new Set(stages)).toEqual(new Set(['${NODE_IMAGE}']));
  });
});
