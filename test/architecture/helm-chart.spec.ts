import { describe, expect, it } from '@jest/globals';
import { CHART, INSTALLATIONS, REQUIRED, manifestsFor } from '../support/helm/charts.js';
import { typeFaults } from '../support/helm/manifest-types.js';
import { podsOf, type Pod } from '../support/helm/pods.js';
import { renderChart, type Manifest } from '../support/helm/render-chart.js';

const kindsOf = (manifests: readonly Manifest[]): readonly string[] =>
  manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`);

const names = Object.keys(INSTALLATIONS);

describe('the manifests of the Helm chart', () => {
  it('have the fields and types of Kubernetes’ API', () => {
    expect(typeFaults(names.flatMap(manifestsFor))).toEqual([]);
  });

  it('are reported when a field is misspelt, missing or of another type', () => {
    const [service] = manifestsFor('plain').filter(({ kind }) => kind === 'Service');
    const planted = [
      { ...service!, spek: {} },
      { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'a' }, spec: { backoffLimit: 1 } },
      { ...service!, spec: { ports: [{ port: '80' }] } },
    ];
    expect(typeFaults(planted)).toEqual([
      expect.stringContaining('"spek": {}: Object literal may only specify known properties'),
      expect.stringContaining("Property 'template' is missing"),
      expect.stringContaining("Type 'string' is not assignable to type 'number'"),
    ]);
  });

  it('are an API, a worker for each role, hooks, commands, budgets and policies', () => {
    expect(kindsOf(manifestsFor('plain')).toSorted()).toEqual([
      'CronJob trial-reading-ops',
      'CronJob trial-reading-ops-doctor',
      'Deployment trial-reading-api',
      'Deployment trial-reading-worker-follow',
      'Deployment trial-reading-worker-jobs',
      'Deployment trial-reading-worker-upkeep',
      'Deployment trial-reading-worker-webhooks',
      'Job trial-reading-migrate',
      'NetworkPolicy trial-reading',
      'NetworkPolicy trial-reading-api',
      'NetworkPolicy trial-reading-worker-webhooks',
      'PodDisruptionBudget trial-reading-api',
      'PodDisruptionBudget trial-reading-worker-follow',
      'PodDisruptionBudget trial-reading-worker-jobs',
      'PodDisruptionBudget trial-reading-worker-upkeep',
      'PodDisruptionBudget trial-reading-worker-webhooks',
      'Service trial-reading-api',
    ]);
    const autoscaled = kindsOf(manifestsFor('large')).filter((name) => /Scaled|Autoscaler/.test(name));
    expect(autoscaled).toEqual([
      'HorizontalPodAutoscaler trial-reading-api',
      'HorizontalPodAutoscaler trial-reading-worker-follow',
      'ScaledObject trial-reading-worker-jobs',
      'ScaledObject trial-reading-worker-webhooks',
    ]);
    // KEDA takes an empty result for no lag by default, also of a metric that nobody reads.
    const triggers = manifestsFor('large').flatMap(
      ({ spec }) => (spec as { triggers?: object[] }).triggers ?? [],
    );
    expect(triggers).toHaveLength(2);
    for (const trigger of triggers)
      expect(trigger).toMatchObject({ metadata: { ignoreNullValues: 'false' } });
  });

  it.each(names)('select the pods that they are about (%s)', (name) => {
    const manifests = manifestsFor(name);
    const labels = podsOf(manifests).map((pod) => pod.labels);
    for (const { kind, spec } of manifests) {
      const { podSelector, selector } = spec as { podSelector?: unknown; selector?: unknown };
      const chosen = (podSelector ?? selector) as { matchLabels?: Record<string, string> } | undefined;
      if (chosen === undefined) continue;
      const wanted = Object.entries(chosen.matchLabels ?? (chosen as Record<string, string>));
      const found = labels.filter((own) => wanted.every(([label, value]) => own[label] === value));
      expect([kind, wanted.length, found.length]).toEqual([
        kind,
        expect.any(Number),
        kind === 'NetworkPolicy' ? expect.any(Number) : 1,
      ]);
      expect(found.length).toBeGreaterThan(0);
    }
  });

  it('leave the number of replicas to the autoscaler where there is one', () => {
    const replicas = (name: string): Readonly<Record<string, unknown>> =>
      Object.fromEntries(
        manifestsFor(name)
          .filter(({ kind }) => kind === 'Deployment')
          .map(({ metadata, spec }) => [
            metadata.name.replace('trial-reading-', ''),
            (spec as { replicas?: number }).replicas,
          ]),
      );
    expect(replicas('small')).toEqual({ api: 2, 'worker-all': 1 });
    expect(replicas('large')).toEqual({ api: undefined, 'worker-upkeep': 2 });
  });

  it('run migrations before an installation and an upgrade, after the logins where they are made', () => {
    const hooks = manifestsFor('large').filter(({ metadata }) => metadata.annotations?.['helm.sh/hook']);
    expect(hooks.map(({ metadata: { name, annotations } }) => [name, annotations])).toEqual(
      [
        ['trial-reading-prepare', '-10'],
        ['trial-reading-migrate', '0'],
      ].map(([name, weight]) => [
        name,
        {
          'helm.sh/hook': 'pre-install,pre-upgrade',
          'helm.sh/hook-weight': weight,
          'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded',
        },
      ]),
    );
  });
});

describe('the pods of the Helm chart', () => {
  const pods: readonly Pod[] = names.flatMap((name) => podsOf(manifestsFor(name)));

  it('run as nobody of importance, on a file system that they cannot change', () => {
    expect(pods.length).toBeGreaterThan(15);
    for (const { spec } of pods) {
      expect(spec.automountServiceAccountToken).toBe(false);
      expect(spec.securityContext).toMatchObject({
        runAsNonRoot: true,
        runAsUser: 1000,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      for (const container of [...(spec.initContainers ?? []), ...spec.containers]) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        expect(container.volumeMounts).toContainEqual({ name: 'tmp', mountPath: '/tmp' });
        expect(container.resources).toMatchObject({ requests: { memory: expect.any(String) } });
      }
    }
  });

  it('take secrets from Secrets alone', () => {
    const secrets = /PASSWORD|SECRET|TOKEN$|DIGEST_KEY|ENCRYPTION_KEYS|DATABASE_|EVENTSTORE_|SIGNING/;
    const variables = pods.flatMap(({ variables: all }) => all);
    const secret = variables.filter(({ name }) => secrets.test(name));
    expect(secret.length).toBeGreaterThan(50);
    for (const { name, value, valueFrom } of secret)
      expect([name, value, valueFrom?.secretKeyRef?.key]).toEqual([name, undefined, name]);
  });

  it('give the owner’s login to migrations and commands alone, the administrators’ to `prepare` alone', () => {
    const knowing = (setting: RegExp): readonly string[] => [
      ...new Set(
        pods
          .filter(({ variables }) => variables.some(({ name }) => setting.test(name)))
          .map(({ labels }) => labels['app.kubernetes.io/component']!),
      ),
    ];
    expect(knowing(/OWNER/)).toEqual(['migrate', 'ops', 'prepare']);
    expect(knowing(/ADMIN/)).toEqual(['prepare']);
  });

  it('mount the keys of epochs where readings are opened, not for logins and migrations', () => {
    const having = podsOf(manifestsFor('large')).filter(({ spec }) =>
      spec.containers.some(({ volumeMounts }) =>
        volumeMounts.some((mount) => (mount as { mountPath: string }).mountPath === '/keys'),
      ),
    );
    expect(having.map(({ labels }) => labels['app.kubernetes.io/component'])).toEqual([
      'api',
      'ops',
      'ops',
      'ops',
      'worker-follow',
      'worker-jobs',
      'worker-upkeep',
      'worker-webhooks',
    ]);
  });

  it('name no variable twice', () => {
    for (const { spec } of pods)
      for (const { env } of [...(spec.initContainers ?? []), ...spec.containers]) {
        const all = env.map(({ name }) => name);
        expect(all).toEqual([...new Set(all)]);
      }
  });

  it('prefer a digest to a tag, and the tag of the API to that of the rest', () => {
    const images = new Set(podsOf(manifestsFor('large')).map(({ spec }) => spec.containers[0]!.image));
    expect([...images]).toEqual([
      'registry.example.com/reading-service:0.0.9',
      `registry.example.com/reading-service@sha256:${'0'.repeat(64)}`,
    ]);
  });
});

interface Policy {
  readonly podSelector: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly policyTypes: readonly string[];
  readonly ingress?: unknown;
  readonly egress?: readonly {
    readonly to?: readonly {
      readonly ipBlock: { readonly cidr: string; readonly except?: readonly string[] };
    }[];
    readonly ports: readonly { readonly port: number; readonly endPort?: number }[];
  }[];
}

describe('the network policies of the Helm chart', () => {
  const policyOf = (installation: string, name: string): Policy =>
    manifestsFor(installation).find(
      ({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === name,
    )!.spec as Policy;
  const portsTo = ({ egress = [] }: Policy): readonly number[] =>
    egress.flatMap(({ ports }) => ports.map(({ port }) => port));

  it('let nobody in but callers of the API, and those who may read the metrics', () => {
    const { podSelector, policyTypes, ingress } = policyOf('plain', 'trial-reading');
    expect(podSelector.matchLabels).not.toHaveProperty('app.kubernetes.io/component');
    expect([policyTypes, ingress]).toEqual([['Ingress', 'Egress'], undefined]);
    const api = [{ ports: [{ protocol: 'TCP', port: 3000 }] }];
    expect(policyOf('plain', 'trial-reading-api').ingress).toEqual(api);
    const from = (name: string) => [{ namespaceSelector: { matchLabels: { name } } }];
    expect(policyOf('large', 'trial-reading').ingress).toEqual([
      { from: from('monitoring'), ports: [{ protocol: 'TCP', port: 9464 }] },
    ]);
    expect(policyOf('large', 'trial-reading-api').ingress).toEqual([
      { from: from('ingress'), ports: [{ protocol: 'TCP', port: 3000 }] },
    ]);
  });

  it('let programs reach names, the stores and what an installation adds', () => {
    expect(portsTo(policyOf('plain', 'trial-reading'))).toEqual([53, 53, 5432, 2113]);
    expect(portsTo(policyOf('large', 'trial-reading'))).toEqual([53, 53, 6432, 2113, 8200]);
    expect(portsTo(policyOf('plain', 'trial-reading-api'))).toEqual([]);
    for (const asking of ['api', 'ops'])
      expect(portsTo(policyOf('large', `trial-reading-${asking}`))).toEqual([443]);
  });

  it('let webhooks out to public addresses alone, on ports that their URLs may name', () => {
    const { egress } = policyOf('plain', 'trial-reading-worker-webhooks');
    const [{ to, ports }] = egress as [NonNullable<Policy['egress']>[number]];
    const [anywhere, global] = to!.map(({ ipBlock }) => ipBlock);
    for (const inside of ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16', '127.0.0.0/8'])
      expect(anywhere!.except).toContain(inside);
    expect(global).toEqual({ cidr: '2000::/3' });
    const open = ports.map(({ port, endPort = port }) => `${port}-${endPort}`);
    expect(open).toEqual(['80-80', '443-443', '1024-65535']);
  });
});

it('the notes of the Helm chart name objects that exist', () => {
  const { manifests, notes } = renderChart(CHART, REQUIRED);
  const jobs = [...notes.matchAll(/cronjob\/(\S+)/g)].map(([, name]) => `CronJob ${name}`);
  expect(jobs).toHaveLength(2);
  expect(kindsOf(manifests)).toEqual(expect.arrayContaining(jobs));
  expect(notes).toContain('trial-reading-api.readings:80');
  const patterns = manifests.filter(
    ({ kind, spec }) => kind === 'CronJob' && (spec as { suspend: boolean }).suspend,
  );
  expect(kindsOf(patterns)).toEqual(['CronJob trial-reading-ops']);
});
