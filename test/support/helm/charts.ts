import { projectPath } from '@app/platform/project-path.js';
import { renderChart, type Manifest } from './render-chart.js';

export const CHART = projectPath('deploy', 'helm', 'asynchronous-reading-service');

/** What every installation must give. */
export const REQUIRED = {
  image: { repository: 'registry.example.com/reading-service' },
  existingSecret: 'reading-service',
  operator: { existingSecret: 'reading-service-owner' },
};

/** Installations that between them use every part of the chart. */
export const INSTALLATIONS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  small: {
    ...REQUIRED,
    // One worker does everything.
    workers: {
      follow: null,
      jobs: null,
      webhooks: null,
      upkeep: null,
      all: {
        roles: ['follow', 'jobs', 'webhooks', 'upkeep'],
        replicas: 1,
        settings: { WORKER_CONCURRENCY: '2' },
        autoscaling: { mode: 'none', min: 1, max: 1 },
        resources: { requests: { memory: '1Gi' } },
      },
    },
    networkPolicy: { enabled: false },
    topologyKeys: [],
  },
  plain: REQUIRED,
  large: {
    ...REQUIRED,
    image: { ...REQUIRED.image, digest: `sha256:${'0'.repeat(64)}` },
    imagePullSecrets: [{ name: 'registry' }],
    secretSettings: ['TOKEN_SIGNING_KEY'],
    prepare: { enabled: true, existingSecret: 'administrators' },
    settings: {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
      TOKEN_JWKS_URL: 'https://portal.example.com/jwks.json',
      TRUSTED_PROXIES: '1',
    },
    certificates: { existingSecret: 'store-certificates' },
    keys: { existingClaim: 'epoch-keys' },
    api: {
      image: { tag: '0.0.9' },
      settings: { LOG_LEVEL: 'warn' },
      autoscaling: { mode: 'cpu', min: 3, max: 9 },
      service: { annotations: { 'example.com/internal': 'yes' } },
    },
    workers: {
      follow: { autoscaling: { mode: 'cpu' } },
      jobs: { autoscaling: { mode: 'lag' } },
      webhooks: { autoscaling: { mode: 'lag' } },
    },
    keda: { prometheusAddress: 'http://prometheus.monitoring:9090' },
    ops: { schedules: { verify: { schedule: '0 4 * * 0', args: ['ledger', 'verify', '--all'] } } },
    networkPolicy: {
      apiFrom: [{ namespaceSelector: { matchLabels: { name: 'ingress' } } }],
      metricsFrom: [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }],
      postgresql: { port: 6432, to: [{ ipBlock: { cidr: '10.1.2.3/32' } }] },
      eventStore: { to: [{ podSelector: { matchLabels: { app: 'kurrentdb' } } }] },
      moreEgress: [{ ports: [{ protocol: 'TCP', port: 8200 }] }],
    },
    podAnnotations: { 'prometheus.io/scrape': 'true' },
    podLabels: { team: 'readings' },
    nodeSelector: { 'kubernetes.io/arch': 'amd64' },
    tolerations: [{ key: 'readings', operator: 'Exists' }],
  },
};

const rendered = new Map<string, readonly Manifest[]>();

/** The manifests of one of these installations. */
export const manifestsFor = (installation: string): readonly Manifest[] => {
  const manifests = rendered.get(installation) ?? renderChart(CHART, INSTALLATIONS[installation]).manifests;
  rendered.set(installation, manifests);
  return manifests;
};
