import { describe, expect, it } from '@jest/globals';
import { CHART, REQUIRED } from '../support/helm/charts.js';
import { renderChart } from '../support/helm/render-chart.js';

const given = (values: Readonly<Record<string, unknown>>) => (): unknown =>
  renderChart(CHART, { ...REQUIRED, ...values });

describe('bad values of the Helm chart', () => {
  it.each([
    ['image', { image: {} }, '/image/repository must NOT have fewer than 1 characters'],
    ['existingSecret', { existingSecret: '' }, '/existingSecret must NOT have fewer than 1 characters'],
    [
      'a misspelt value',
      { replicas: 3 },
      ' must NOT have additional properties {"additionalProperty":"replicas"}',
    ],
    [
      'a misspelt setting',
      { settings: { LOGLEVEL: 'info' } },
      '/settings must NOT have additional properties {"additionalProperty":"LOGLEVEL"}',
    ],
    ['a secret among the settings', { settings: { DIGEST_KEY: 'x' } }, '"additionalProperty":"DIGEST_KEY"'],
    [
      'a number as a setting',
      { settings: { RATE_READ_BURST: 5 } },
      '/settings/RATE_READ_BURST must be string',
    ],
    [
      'an unknown role',
      { workers: { jobs: { roles: ['job'] } } },
      '/workers/jobs/roles/0 must be equal to one of',
    ],
    ['a role without a worker', { workers: { jobs: null } }, 'workers: none has the role jobs'],
    [
      'lag without Prometheus',
      { workers: { jobs: { autoscaling: { mode: 'lag' } } } },
      'workers.jobs.autoscaling.mode lag needs keda.prometheusAddress',
    ],
    [
      'lag whose metrics nobody may read',
      {
        workers: { jobs: { autoscaling: { mode: 'lag' } } },
        keda: { prometheusAddress: 'http://prometheus:9090' },
      },
      'workers.jobs.autoscaling.mode lag needs networkPolicy.metricsFrom',
    ],
    [
      'prepare without its Secret',
      { prepare: { enabled: true } },
      'prepare.enabled needs prepare.existingSecret',
    ],
  ])('get a clear error: %s', (_, values, error) => {
    expect(given(values)).toThrow(error);
  });
});
