import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHART, INSTALLATIONS, REQUIRED, manifestsFor } from '../support/helm/charts.js';
import { manifestsOf, type Manifest } from '../support/helm/render-chart.js';

/** Helm itself, where the machine has it: the hosted CI does. Elsewhere the renderer of the specs stands in. */
const helm = process.env['HELM_COMMAND'];
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'chart-values-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const template = (values: unknown): string => {
  const file = join(folder, 'values.yaml');
  writeFileSync(file, JSON.stringify(values));
  return execFileSync(helm!, ['template', 'trial', CHART, '--namespace', 'readings', '--values', file], {
    encoding: 'utf8',
    stdio: 'pipe',
  });
};

const inOrder = (manifests: readonly Manifest[]): readonly Manifest[] =>
  manifests.toSorted((a, b) => (`${a.kind} ${a.metadata.name}` < `${b.kind} ${b.metadata.name}` ? -1 : 1));

(helm === undefined ? describe.skip : describe)('Helm', () => {
  it.each(Object.keys(INSTALLATIONS))('renders the same manifests as the specs’ renderer: %s', (name) => {
    const rendered = manifestsOf(template(INSTALLATIONS[name]));
    expect(rendered.length).toBeGreaterThan(5);
    expect(inOrder(rendered)).toEqual(inOrder(manifestsFor(name)));
  });

  it('refuses bad values', () => {
    expect(() => template({ ...REQUIRED, existingSecret: '' })).toThrow('existingSecret');
    expect(() => template({ ...REQUIRED, replicas: 3 })).toThrow('replicas');
    expect(() => template({ ...REQUIRED, workers: { jobs: null } })).toThrow('none has the role jobs');
  });
});
