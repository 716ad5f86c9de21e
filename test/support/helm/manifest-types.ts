import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { projectPath } from '@app/platform/project-path.js';
import type { Manifest } from './render-chart.js';

/** The types of Kubernetes' API, as a package. */
const TYPES = 'kubernetes-types';
const typeIn = (folder: string, name: string): string => `import("${TYPES}/${folder}").${name}`;

/** KEDA's object, from its documentation (keda.sh/docs, "ScaledObject specification" and "Prometheus" scaler). */
const SCALED_OBJECT = `interface ScaledObject {
  apiVersion: 'keda.sh/v1alpha1'; kind: 'ScaledObject'; metadata: ${typeIn('meta/v1', 'ObjectMeta')};
  spec: {
    scaleTargetRef: { name: string; kind?: string; apiVersion?: string };
    pollingInterval?: number; cooldownPeriod?: number; minReplicaCount?: number; maxReplicaCount?: number;
    fallback?: { failureThreshold: number; replicas: number };
    triggers: { type: 'prometheus'; metadata: {
      serverAddress: string; query: string; threshold: string; activationThreshold?: string;
      ignoreNullValues?: 'true' | 'false' } }[];
  };
}`;

/** Where the package has an apiVersion that is not its folder. */
const FOLDERS: Readonly<Record<string, string>> = {
  v1: 'core/v1',
  'networking.k8s.io/v1': 'networking/v1',
};

/**
 * Compares manifests with the types of Kubernetes' API: unknown fields, missing ones, values of another type.
 * @returns what TypeScript reports, one line each
 */
export const typeFaults = (manifests: readonly Manifest[]): readonly string[] => {
  const constants = manifests.map((manifest, n) => {
    const { apiVersion, kind } = manifest;
    const type = kind === 'ScaledObject' ? kind : typeIn(FOLDERS[apiVersion] ?? apiVersion, kind);
    return `export const manifest${n}: ${type} = ${JSON.stringify(manifest, null, 1)};`;
  });
  const file = projectPath('manifests.ts');
  const source = [SCALED_OBJECT, ...constants].join('\n');
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    lib: ['lib.es5.d.ts'],
    // The API's own types are not what is in question.
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
    readFile: (name) => (name === file ? source : readFileSync(name, 'utf8')),
    getSourceFile: (name, language) =>
      name === file ? ts.createSourceFile(file, source, language) : host.getSourceFile(name, language),
  });
  return ts.getPreEmitDiagnostics(program).map(({ messageText, start, file: at }) => {
    const line = at?.getLineAndCharacterOfPosition(start ?? 0).line ?? 0;
    return `${source.split('\n')[line]?.trim()}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
  });
};
