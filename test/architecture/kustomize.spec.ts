import { describe, expect, it } from '@jest/globals';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { HorizontalPodAutoscalerSpec } from 'kubernetes-types/autoscaling/v2.js';
import type { NetworkPolicySpec } from 'kubernetes-types/networking/v1.js';
import ts from 'typescript';
import { parseAllDocuments } from 'yaml';
import { projectPath } from '#platform/project-path.js';
import {
  BASE,
  COMPONENTS,
  KUSTOMIZE,
  OVERLAY,
  kustomizationIn,
  manifestsIn,
  podsOf,
  type Manifest,
} from '../support/kubernetes.js';

const folders = [BASE, ...COMPONENTS, OVERLAY];
const base = manifestsIn(BASE);
const all = folders.flatMap(manifestsIn);
const pods = podsOf(base);
const named = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.name}`;

/** The modules of kubernetes-types: the types of Kubernetes' API, made from its OpenAPI document. */
const MODULES: Readonly<Record<string, string>> = { v1: 'core/v1', 'networking.k8s.io/v1': 'networking/v1' };

/**
 * Compares manifests with the types of Kubernetes' API: unknown fields, missing ones, values of another type.
 * @returns what TypeScript reports, one line each
 */
const typeFaults = (manifests: readonly object[]): readonly string[] => {
  const source = (manifests as readonly Manifest[])
    .map((manifest, n) => {
      const module = MODULES[manifest.apiVersion] ?? manifest.apiVersion;
      const type = `import("kubernetes-types/${module}").${manifest.kind}`;
      return `export const manifest${n}: ${type} = ${JSON.stringify(manifest, null, 1)};`;
    })
    .join('\n');
  const file = projectPath('manifests.ts');
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    lib: ['lib.es5.d.ts'],
    skipLibCheck: true,
    types: [],
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  };
  const host = ts.createCompilerHost(options);
  const program = ts.createProgram([file], options, {
    ...host,
    fileExists: (name) => name === file || host.fileExists(name),
    readFile: (name) => (name === file ? source : host.readFile(name)),
    getSourceFile: (name, language) =>
      name === file ? ts.createSourceFile(file, source, language) : host.getSourceFile(name, language),
  });
  return ts.getPreEmitDiagnostics(program).map(({ messageText, start, file: at }) => {
    const line = at?.getLineAndCharacterOfPosition(start ?? 0).line ?? 0;
    return `${source.split('\n')[line]?.trim()}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
  });
};

describe('The kustomizations', () => {
  it('name files and folders that exist, and together every file', () => {
    const used = folders.flatMap((folder) => {
      const { resources = [], components = [], secretGenerator = [] } = kustomizationIn(folder);
      const files = secretGenerator.flatMap(({ files: of = [] }) => of);
      return ['kustomization.yaml', ...resources, ...components, ...files].map((name) => join(folder, name));
    });
    expect(used.filter((path) => !existsSync(join(KUSTOMIZE, path)))).toEqual([]);
    const present = readdirSync(KUSTOMIZE, { recursive: true, encoding: 'utf8' });
    expect(present.filter((path) => /\.(yaml|env)$/.test(path) && !used.includes(path))).toEqual([]);
    expect(kustomizationIn(OVERLAY).components).toEqual(COMPONENTS.map((folder) => `../../${folder}`));
  });

  it('patch objects of the base', () => {
    const targets = COMPONENTS.flatMap((folder) => kustomizationIn(folder).patches ?? []).flatMap(
      ({ target: { kind, name } }) => name.split('|').map((one) => `${kind} ${one}`),
    );
    expect(targets).toContain('CronJob ops');
    expect(targets.filter((target) => !base.map(named).includes(target))).toEqual([]);
  });

  it('leave the number of replicas to the autoscaler where there is one', () => {
    const [{ target, patch } = { target: { name: '' }, patch: '' }] =
      kustomizationIn('components/autoscaling').patches ?? [];
    expect(patch).toBe('- op: remove\n  path: /spec/replicas');
    const scaled = manifestsIn('components/autoscaling').map(
      ({ spec }) => (spec as HorizontalPodAutoscalerSpec).scaleTargetRef,
    );
    expect(scaled.map(({ name }) => name)).toEqual(target.name.split('|'));
    for (const { kind, name } of scaled) expect(base.map(named)).toContain(`${kind} ${name}`);
  });

  it('run the version of package.json', () => {
    const { version } = JSON.parse(readFileSync(projectPath('package.json'), 'utf8')) as { version: string };
    expect(kustomizationIn(OVERLAY).images).toEqual([
      expect.objectContaining({ name: 'reading-service', newTag: version }),
    ]);
    expect(new Set(pods.map(({ container }) => container.image))).toEqual(new Set(['reading-service']));
  });
});

describe('The manifests', () => {
  it('have the fields and types of Kubernetes’ API', () => {
    expect(typeFaults(all)).toEqual([]);
  });

  // `kubectl kustomize deploy/kustomize/overlays/example` writes this file where there is kubectl, as in the hosted CI.
  const built = process.env['KUSTOMIZED'];
  (built === undefined ? it.skip : it)('have them when Kustomize has put them together', () => {
    const together = parseAllDocuments(readFileSync(built!, 'utf8')).map(
      (document) => document.toJS() as object,
    );
    expect(together).toHaveLength(all.length + 3);
    expect(typeFaults(together)).toEqual([]);
  });

  it('select the pods that they are about', () => {
    const selecting = all.flatMap((manifest) => {
      const { podSelector, selector = podSelector } = manifest.spec as {
        podSelector?: { matchLabels?: Record<string, string> };
        selector?: { matchLabels?: Record<string, string> };
      };
      if (selector === undefined) return [];
      // That of a Service has the labels themselves.
      const wanted = Object.entries(selector.matchLabels ?? selector) as [string, string][];
      const found = pods.filter(({ labels }) => wanted.every(([label, value]) => labels[label] === value));
      return [[named(manifest), found.map(({ component }) => component)] as const];
    });
    expect(selecting).toHaveLength(10);
    for (const [name, found] of selecting)
      expect([name, found]).toEqual([
        name,
        name === 'NetworkPolicy reading-service'
          ? ['api', 'worker', 'worker-jobs', 'migrate', 'ops']
          : [name.split(' ')[1]],
      ]);
  });
});

describe('The pods', () => {
  const mounted = (pod: (typeof pods)[number], path: string): boolean =>
    pod.container.volumeMounts!.some(({ mountPath }) => mountPath === path);

  it('run as nobody of importance, on a file system that they cannot change', () => {
    expect(pods).toHaveLength(5);
    for (const pod of pods) {
      expect(pod.spec.automountServiceAccountToken).toBe(false);
      expect(pod.spec.securityContext).toEqual({
        runAsNonRoot: true,
        runAsUser: 1000,
        runAsGroup: 1000,
        fsGroup: 1000,
        fsGroupChangePolicy: 'OnRootMismatch',
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect(pod.container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(mounted(pod, '/tmp')).toBe(true);
      expect(pod.container.resources).toEqual({
        requests: { cpu: expect.any(String), memory: expect.any(String) },
        limits: { memory: expect.any(String) },
      });
      const volumes = pod.spec.volumes!.map(({ name }) => name);
      expect(pod.container.volumeMounts!.map(({ name }) => name)).toEqual(volumes);
    }
  });

  it('read secrets from mounted files alone: those of the owner for migrations and commands only', () => {
    const secret = /PASSWORD|SECRET|TOKEN|DIGEST_KEY|ENCRYPTION_KEYS|DATABASE_|EVENTSTORE_|SIGNING/;
    for (const { env } of pods)
      for (const { name, valueFrom } of env) {
        expect(name).not.toMatch(secret);
        expect(valueFrom).toBeUndefined();
      }
    const files = new Map(
      kustomizationIn(OVERLAY).secretGenerator!.map(({ name, files: of = [] }) => [name, of]),
    );
    const reading = pods.map(({ component, spec, container }) => {
      const read = container.command!.filter((word) => word.startsWith('--env-file='));
      const given = spec.volumes!.flatMap(({ name, secret: of }) =>
        (files.get(of?.secretName ?? '') ?? []).map((file) => {
          const { mountPath } = container.volumeMounts!.find((mount) => mount.name === name)!;
          return `--env-file=${mountPath}/${file}`;
        }),
      );
      expect(read).toEqual(given);
      return [component, read.map((word) => word.split('/').at(-1))];
    });
    expect(Object.fromEntries(reading)).toEqual({
      api: ['service.env'],
      worker: ['service.env'],
      'worker-jobs': ['service.env'],
      migrate: ['service.env', 'owner.env'],
      ops: ['service.env', 'owner.env'],
    });
  });
});

describe('The network policies', () => {
  const policies = new Map(
    manifestsIn('components/network-policies').map(({ metadata, spec }) => [
      metadata.name,
      spec as NetworkPolicySpec,
    ]),
  );
  const portsTo = (name: string): readonly string[] =>
    (policies.get(name)!.egress ?? []).flatMap(({ ports = [] }) =>
      ports.map(({ port, endPort }) => (endPort === undefined ? `${port}` : `${port}-${endPort}`)),
    );

  it('let nobody in but callers of the API, and Prometheus to the metrics', () => {
    const { policyTypes, ingress } = policies.get('reading-service')!;
    expect(policyTypes).toEqual(['Ingress', 'Egress']);
    expect(ingress).toEqual([
      {
        from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
        ports: [{ protocol: 'TCP', port: 9464 }],
      },
    ]);
    expect(policies.get('api')!.ingress).toEqual([{ ports: [{ protocol: 'TCP', port: 3000 }] }]);
  });

  it('let programs reach names and stores, and webhooks public addresses on ports that their URLs may name', () => {
    expect(portsTo('reading-service')).toEqual(['53', '53', '5432', '2113']);
    expect(portsTo('worker')).toEqual(['80', '443', '1024-65535']);
    const [anywhere, global] = policies.get('worker')!.egress![0]!.to!.map(({ ipBlock }) => ipBlock!);
    for (const inside of ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16', '127.0.0.0/8'])
      expect(anywhere!.except).toContain(inside);
    expect(global).toEqual({ cidr: '2000::/3' });
  });
});
