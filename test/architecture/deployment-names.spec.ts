import { describe, expect, it } from '@jest/globals';
import { Command } from 'commander';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { loadConfig, settingNames } from '@app/platform/config/load-config.js';
import { WORKER_ROLES } from '@app/platform/config/settings.js';
import { projectPath } from '@app/platform/project-path.js';
import { TOP_COMMANDS } from '../../apps/ops/src/commands.js';
import { settings } from '../../apps/service/src/settings.js';
import { CHART, INSTALLATIONS, manifestsFor } from '../support/helm/charts.js';
import { podsOf, type Container } from '../support/helm/pods.js';

interface Service {
  readonly environment?: Readonly<Record<string, string>>;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly ports?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
}

const { services } = parse(readFileSync(projectPath('docker-compose.yml'), 'utf8'), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
};
const containers: readonly Container[] = Object.keys(INSTALLATIONS)
  .flatMap((name) => podsOf(manifestsFor(name)))
  .flatMap(({ spec }) => [...(spec.initContainers ?? []), ...spec.containers]);
const containersNamed = (name: string): readonly Container[] =>
  containers.filter((container) => container.name === name);

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

  it('of the chart are settings of the service', () => {
    const names = containers.flatMap(({ env }) => env.map(({ name }) => name));
    expect(names.length).toBeGreaterThan(100);
    expect(strangers(names)).toEqual([]);
  });

  it('that the chart sets have values that the service accepts', () => {
    const KEY = Buffer.alloc(32, 1).toString('base64');
    const secrets: Readonly<Record<string, string>> = {
      DATABASE_URL: 'postgresql://app:a@postgres/reading',
      DATABASE_OWNER_URL: 'postgresql://owner:a@postgres/reading',
      EVENTSTORE_URL: 'esdb://service:a@kurrentdb:2113',
      ENCRYPTION_KEYS: `k1:${KEY}`,
      DIGEST_KEY: KEY,
    };
    for (const { env } of containers) {
      const given = env.map(({ name, value }) => [name, value ?? secrets[name] ?? 'secret']);
      expect(() => loadConfig(settings, Object.fromEntries(given))).not.toThrow();
    }
  });
});

describe('ports and routes', () => {
  const routes = Object.keys(
    (JSON.parse(readFileSync(projectPath('docs', 'openapi.json'), 'utf8')) as { paths: object }).paths,
  );

  it('that are probed are those of the API', () => {
    for (const { startupProbe, livenessProbe, readinessProbe } of containersNamed('api')) {
      expect([startupProbe, livenessProbe, readinessProbe].map((probe) => probe!.httpGet)).toEqual([
        { path: '/healthz', port: 'http' },
        { path: '/healthz', port: 'http' },
        { path: '/readyz', port: 'http' },
      ]);
    }
    expect(routes).toEqual(expect.arrayContaining(['/healthz', '/readyz']));
    expect(services['api']!.healthcheck!.test.join(' ')).toContain('127.0.0.1:3000/healthz');
  });

  it('are those that the programs listen on', () => {
    const variable = ({ env }: Container, name: string): string | undefined =>
      env.find((one) => one.name === name)?.value;
    for (const container of [...containersNamed('api'), ...containersNamed('worker')])
      for (const { name, containerPort } of container.ports!)
        expect(variable(container, name === 'http' ? 'PORT' : 'METRICS_PORT')).toBe(String(containerPort));
    const image = readFileSync(projectPath('Dockerfile'), 'utf8');
    const [, port] = /^ENV HOST=0\.0\.0\.0 PORT=(\d+)$/m.exec(image) ?? [];
    expect(services['api']!.ports![0]).toMatch(new RegExp(`:${port}$`));
  });
});

it('the roles of the chart’s workers are the worker’s roles', () => {
  const { definitions } = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8'));
  expect(definitions.worker.properties.roles.items.enum).toEqual([...WORKER_ROLES]);
  const values = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8'));
  const roles = Object.values<{ roles: string[] }>(values.workers).flatMap((worker) => worker.roles);
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
    ...containers.flatMap(({ args }) => (args === undefined || args[0] === '--help' ? [] : [args])),
    ...Object.values(services)
      .flatMap(({ command = [] }) => [...command.join(' ').matchAll(/dist\/ops\.js (\S+)(?: (\w+))?/g)])
      .map(([, ...words]) => words.filter((word) => word !== undefined)),
  ];

  it('of chart and compose file are commands of the operator', async () => {
    const distinct = [...new Set(used.map((words) => words.join(' ')))].toSorted();
    expect(distinct).toEqual([
      'database prepare',
      'doctor',
      'event-store prepare',
      'ledger verify --all',
      'migrate',
    ]);
    for (const words of used) await resolve(words);
    await expect(resolve(['event-store', 'prepair'])).rejects.toThrow('has no command prepair');
  });

  it('are programs of the build', () => {
    const build = readFileSync(projectPath('tools', 'bundle.mjs'), 'utf8');
    const programs = [
      ...containers.map(({ command }) => command[1]!),
      ...Object.values(services).flatMap(({ entrypoint = [], command = [] }) =>
        [...entrypoint, ...command].flatMap((words) => words.match(/dist\/\w+\.js/g) ?? []),
      ),
    ];
    expect([...new Set(programs)].toSorted()).toEqual(['dist/api.js', 'dist/ops.js', 'dist/worker.js']);
    for (const program of new Set(programs)) expect(build).toContain(/(\w+)\.js$/.exec(program)![1]!);
  });

  it('have the time that they take to stop', () => {
    const { HTTP_DRAIN_MS } = settings.shape;
    const drain = HTTP_DRAIN_MS.parse(undefined) / 1_000;
    for (const { spec } of podsOf(manifestsFor('plain'))) {
      const [container] = spec.containers;
      if (spec.terminationGracePeriodSeconds === undefined) continue;
      const sleep = Number(container!.lifecycle?.preStop.exec.command[1] ?? 0);
      expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(sleep + drain + 2);
    }
  });
});

describe('Chart.yaml and README.md of the chart', () => {
  it('have the version of the service', () => {
    const { appVersion } = parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8'));
    const { version } = JSON.parse(readFileSync(projectPath('package.json'), 'utf8'));
    expect(appVersion).toBe(version);
  });

  it('list every value', () => {
    const leaves = (value: unknown, path: string): readonly string[] =>
      typeof value !== 'object' || value === null || Array.isArray(value) || Object.keys(value).length === 0
        ? [path]
        : Object.entries(value).flatMap(([key, inner]) =>
            leaves(inner, path === '' ? key : `${path}.${key}`),
          );
    const values = leaves(parse(readFileSync(join(CHART, 'values.yaml'), 'utf8')), '').map((path) =>
      path.replace(/^workers\.\w+/, 'workers.<name>').replace(/(resources|schedules)\..*/, '$1'),
    );
    const readme = readFileSync(join(CHART, 'README.md'), 'utf8');
    expect(new Set(values).size).toBeGreaterThan(40);
    expect([...new Set(values)].filter((path) => !readme.includes(`\`${path}\``))).toEqual([]);
  });
});
