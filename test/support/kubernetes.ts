import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CronJobSpec, JobSpec } from 'kubernetes-types/batch/v1.js';
import type { Container, EnvVar, PodTemplateSpec } from 'kubernetes-types/core/v1.js';
import { parse, parseAllDocuments } from 'yaml';
import { projectPath } from '#platform/project-path.js';

export const KUSTOMIZE = projectPath('deploy', 'kustomize');

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec: object;
}

interface Generator {
  readonly name: string;
  readonly literals?: readonly string[];
  readonly files?: readonly string[];
}

/** What our kustomizations use of Kustomize. */
export interface Kustomization {
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly images?: readonly { readonly name: string; readonly newTag: string }[];
  readonly configMapGenerator?: readonly Generator[];
  readonly secretGenerator?: readonly Generator[];
  readonly patches?: readonly {
    readonly target: { readonly kind: string; readonly name: string };
    readonly patch: string;
  }[];
}

/** Folders of kustomizations below deploy/kustomize. */
export const BASE = 'base';
export const COMPONENTS = ['components/autoscaling', 'components/epoch-keys', 'components/network-policies'];
export const OVERLAY = 'overlays/example';

export const kustomizationIn = (folder: string): Kustomization =>
  parse(readFileSync(join(KUSTOMIZE, folder, 'kustomization.yaml'), 'utf8')) as Kustomization;

/** The manifests in the files of a folder's kustomization, as they are written. */
export const manifestsIn = (folder: string): readonly Manifest[] =>
  (kustomizationIn(folder).resources ?? [])
    .filter((name) => name.endsWith('.yaml'))
    .flatMap((name) => parseAllDocuments(readFileSync(join(KUSTOMIZE, folder, name), 'utf8')))
    .map((document) => document.toJS() as Manifest);

/** The settings that all programs get from a folder's `settings`. */
export const settingsIn = (folder: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (kustomizationIn(folder).configMapGenerator ?? []).flatMap(({ literals = [] }) =>
      literals.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const),
    ),
  );

export interface Pod {
  readonly component: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: NonNullable<PodTemplateSpec['spec']>;
  readonly container: Container;
  readonly env: readonly EnvVar[];
}

/** The pods that deployments, jobs and cron jobs make. Each has one container. */
export const podsOf = (manifests: readonly Manifest[]): readonly Pod[] =>
  manifests
    .filter(({ kind }) => ['Deployment', 'Job', 'CronJob'].includes(kind))
    .map(({ spec }) => {
      const { template } =
        'jobTemplate' in spec ? (spec as CronJobSpec).jobTemplate.spec! : (spec as JobSpec);
      const labels = template.metadata!.labels!;
      const [container] = template.spec!.containers;
      return {
        component: labels['app.kubernetes.io/component']!,
        labels,
        spec: template.spec!,
        container: container!,
        env: container!.env ?? [],
      };
    });
