import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { projectPath } from '#platform/project-path.js';
import { Command } from 'commander';
import { join } from 'node:path';
import { loadConfig, settingNames } from '#platform/config/load-config.js';
import { WORKER_ROLES } from '#platform/config/settings.js';
import { DRAIN_WITHIN_MS } from '#platform/process/stopping.js';
import { TOP_COMMANDS } from '../../apps/ops/src/run.js';
import { settings } from '../../apps/service/src/settings.js';
import {
  BASE,
  COMPONENTS,
  KUSTOMIZE,
  OVERLAY,
  kustomizationIn,
  manifestsIn,
  podsOf,
  settingsIn,
} from '../support/kubernetes.js';

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
  readonly entrypoint?: readonly string[];
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

const pods = podsOf(manifestsIn(BASE));

/** What programs read from the environment without a setting: addresses of administrators, and Node's and OpenTelemetry's. */
const READ_ELSEWHERE = /^(DATABASE_ADMIN_URL|EVENTSTORE_ADMIN_URL|OTEL_[A-Z_]+)$/;
const known = new Set(settingNames(settings));
const strangers = (names: readonly string[]): readonly string[] =>
  names.filter((name) => !known.has(name) && !READ_ELSEWHERE.test(name));

describe('environment variables', () => {
  it('of the compose file are settings of the service', () => {
    const own = Object.values(services).filter(({ environment }) => environment?.['DATABASE_URL']);
    expect(own).toHaveLength(5);
    for (const { environment } of own) expect(strangers(Object.keys(environment!))).toEqual([]);
  });

  const KEY = Buffer.alloc(32, 1).toString('base64');
  const secrets: Readonly<Record<string, string>> = {
    DATABASE_URL: 'postgresql://app:a@postgres/reading',
    DATABASE_OWNER_URL: 'postgresql://owner:a@postgres/reading',
    EVENTSTORE_URL: 'esdb://service:a@kurrentdb:2113',
    ENCRYPTION_KEYS: `k1:${KEY}`,
    DIGEST_KEY: KEY,
  };
  const shared = Object.assign({}, ...[BASE, ...COMPONENTS, OVERLAY].map(settingsIn)) as Record<
    string,
    string
  >;
  /** The variables of each program on Kubernetes, with values for the secrets that the overlay leaves empty. */
  const programs = pods.map(({ container, env }) => {
    const files = container.command!.flatMap((word) => /^--env-file=.+\/(.+)$/.exec(word)?.[1] ?? []);
    const names = files.flatMap((file) =>
      [...readFileSync(join(KUSTOMIZE, OVERLAY, file), 'utf8').matchAll(/^([A-Z_]+)=$/gm)].map(
        ([, name]) => name!,
      ),
    );
    return {
      ...shared,
      ...Object.fromEntries(env.map(({ name, value }) => [name, value])),
      ...Object.fromEntries(names.map((name) => [name, secrets[name]])),
    };
  });

  it('of the manifests are settings of the service', () => {
    expect(programs).toHaveLength(5);
    expect(programs.flatMap((variables) => strangers(Object.keys(variables)))).toEqual([]);
    const wanted = kustomizationIn(OVERLAY).secretGenerator!.map(({ name }) => name);
    expect(wanted).toEqual(['service', 'owner']);
  });

  it('of the manifests have what each program requires, with values that it accepts', () => {
    for (const variables of programs) expect(() => loadConfig(settings, variables)).not.toThrow();
    const commands = programs.filter((variables) => 'DATABASE_OWNER_URL' in variables);
    expect(commands).toHaveLength(2);
    const { DIGEST_KEY: _, ...wanting } = programs[0] as Record<string, string>;
    expect(() => loadConfig(settings, wanting)).toThrow('DIGEST_KEY: is required');
  });
});

describe('ports and routes', () => {
  const routes = Object.keys(
    (JSON.parse(readFileSync(projectPath('docs', 'openapi.json'), 'utf8')) as { paths: object }).paths,
  );

  it('that are probed are those of the API', () => {
    const { startupProbe, livenessProbe, readinessProbe } = pods[0]!.container;
    expect([startupProbe, livenessProbe, readinessProbe].map((probe) => probe!.httpGet)).toEqual([
      { path: '/healthz', port: 'http' },
      { path: '/healthz', port: 'http' },
      { path: '/readyz', port: 'http' },
    ]);
    expect(routes).toEqual(expect.arrayContaining(['/healthz', '/readyz']));
    expect(services['api']!.healthcheck!.test.join(' ')).toContain('127.0.0.1:3000/healthz');
  });

  it('are those that the programs listen on', () => {
    const listening = pods.filter(({ container }) => container.ports);
    expect(listening.map(({ component }) => component)).toEqual(['api', 'worker', 'worker-jobs']);
    const { METRICS_PORT } = settingsIn(BASE);
    for (const { container, env } of listening)
      for (const { name, containerPort } of container.ports!)
        expect(name === 'http' ? env.find((one) => one.name === 'PORT')?.value : METRICS_PORT).toBe(
          String(containerPort),
        );
    const image = readFileSync(projectPath('Dockerfile'), 'utf8');
    const [, port] = /^ENV HOST=0\.0\.0\.0 PORT=(\d+)$/m.exec(image) ?? [];
    expect(services['api']!.ports![0]).toMatch(new RegExp(`:${port}$`));
  });
});

it('the roles of the workers on Kubernetes are the worker’s roles, each once', () => {
  const roles = pods.flatMap(({ env }) =>
    env.filter(({ name }) => name === 'WORKER_ROLES').flatMap(({ value }) => value!.split(',')),
  );
  expect(roles.toSorted()).toEqual([...WORKER_ROLES].toSorted());
});

describe('commands', () => {
  /** @throws Error for a command that `ops` does not have */
  const resolve = async ([name, subcommand]: readonly string[]): Promise<void> => {
    const top = TOP_COMMANDS.find((command) => command.name === name);
    if (top === undefined) throw new Error(`ops has no command ${name}`);
    const command = new Command(name);
    (await top.load())(command);
    if (command.commands.length === 0 || subcommand === undefined) return;
    if (!command.commands.some((one) => one.name() === subcommand))
      throw new Error(`ops ${name} has no command ${subcommand}`);
  };
  const used = [
    ...pods.flatMap(({ container: { args } }) => (args === undefined ? [] : [args])),
    ...Object.values(services)
      .flatMap(({ command = [] }) => [...command.join(' ').matchAll(/dist\/ops\.js (\S+)(?: (\w+))?/g)])
      .map(([, ...words]) => words.filter((word) => word !== undefined)),
  ];

  it('of manifests and compose file are commands of the operator', async () => {
    const distinct = [...new Set(used.map((words) => words.join(' ')))].toSorted();
    expect(distinct).toEqual(['database prepare', 'doctor', 'event-store prepare', 'migrate']);
    for (const words of used) await resolve(words);
    await expect(resolve(['event-store', 'prepair'])).rejects.toThrow('has no command prepair');
  });

  it('are programs of the build', () => {
    const build = readFileSync(projectPath('tools', 'build.mjs'), 'utf8');
    const programs = [
      ...pods.map(({ container }) => container.command!.at(-1)!),
      ...Object.values(services).flatMap(({ entrypoint = [], command = [] }) =>
        [...entrypoint, ...command].flatMap((words) => words.match(/dist\/\w+\.js/g) ?? []),
      ),
    ];
    expect([...new Set(programs)].toSorted()).toEqual(['dist/api.js', 'dist/ops.js', 'dist/worker.js']);
    for (const program of new Set(programs)) expect(build).toContain(/(\w+)\.js$/.exec(program)![1]!);
  });

  it('have the time that they take to stop', () => {
    const drain = DRAIN_WITHIN_MS / 1_000;
    const lasting = pods.filter(({ spec }) => spec.terminationGracePeriodSeconds !== undefined);
    expect(lasting).toHaveLength(3);
    for (const { spec, container } of lasting) {
      const sleep = Number(container.lifecycle?.preStop?.exec?.command?.[1] ?? 0);
      expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(sleep + drain + 2);
    }
  });
});
