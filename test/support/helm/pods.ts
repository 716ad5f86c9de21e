import type { Manifest } from './render-chart.js';

export interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef?: { readonly name: string; readonly key: string } };
}

interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: string };
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command: readonly string[];
  readonly args?: readonly string[];
  readonly env: readonly Variable[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly lifecycle?: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
  readonly resources: unknown;
  readonly securityContext: unknown;
  readonly volumeMounts: readonly unknown[];
}

interface PodTemplate {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: {
    readonly automountServiceAccountToken: boolean;
    readonly securityContext: unknown;
    readonly terminationGracePeriodSeconds?: number;
    readonly initContainers?: readonly Container[];
    readonly containers: readonly Container[];
  };
}

export interface Pod {
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: PodTemplate['spec'];
  /** Those of all its containers. */
  readonly variables: readonly Variable[];
}

/** The pods that deployments, jobs and cron jobs make. */
export const podsOf = (manifests: readonly Manifest[]): readonly Pod[] =>
  manifests
    .filter(({ kind }) => ['Deployment', 'Job', 'CronJob'].includes(kind))
    .map(({ spec }) => {
      const { template, jobTemplate } = spec as {
        readonly template?: PodTemplate;
        readonly jobTemplate?: { readonly spec: { readonly template: PodTemplate } };
      };
      const { metadata, spec: pod } = template ?? jobTemplate!.spec.template;
      const containers = [...(pod.initContainers ?? []), ...pod.containers];
      return { labels: metadata.labels, spec: pod, variables: containers.flatMap(({ env }) => env) };
    });
