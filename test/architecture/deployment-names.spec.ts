import { describe, expect, it } from '@jest/globals';
import { Command } from 'commander';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { loadConfig, settingNames } from '#platform/config/load-config.js';
import { WORKER_ROLES } from '#platform/config/settings.js';
import { DRAIN_WITHIN_MS } from '#platform/process/stopping.js';
import { projectPath } from '#platform/project-path.js';
import { TOP_COMMANDS } from '../../apps/ops/src/commands.js';
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
  readonly environment?: Readonly<Record<string, string>>;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly ports?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
}

const { services } = parse(readFileSync(projectPath('docker-compose.yml'), 'utf8'), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
};
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
