import { expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { projectPath } from '#platform/project-path.js';

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[];
  }[];
}
const { groups } = parse(readFileSync(projectPath('docs/alerts.yml'), 'utf8')) as Rules;
const rules = groups.flatMap((group) => group.rules);

/** The alerts with a selector of this metric that the pattern does not find in the braces. */
const without = (metric: RegExp, wanted: RegExp): readonly string[] =>
  rules
    .filter(({ expr }) =>
      [...expr.matchAll(/\b([a-z_]+)(?:\{([^}]*)\})?\[/g)].some(
        ([, name = '', selectors = '']) => metric.test(name) && !wanted.test(selectors),
      ),
    )
    .map(({ alert }) => alert);

it('What test readings ask for alarms nobody', () => {
  expect(rules.length).toBeGreaterThan(20);
  expect(without(/^readings?_/, /mode="live"/)).toEqual([]);
  expect(without(/^webhook_attempts_total$/, /asked_refusal|result="proxy_failed"/)).toEqual([]);
  // Their status is asked_503.
  expect(without(/^http_requests_total$/, /^$|status=~"5\.\."/)).toEqual([]);
});

it('Every alert has an entry in the runbook, and the runbook names no other', () => {
  const [, table = ''] = readFileSync(projectPath('docs/runbook.md'), 'utf8').split(
    /^## (?:Find the entry|The service)$/m,
  );
  const named = [...table.matchAll(/^\| ([A-Z][A-Za-z, ]+) \| \S/gm)].flatMap(([, names = '']) =>
    names.split(', '),
  );
  expect(named.toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
});
