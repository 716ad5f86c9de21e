import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { projectPath } from '#platform/project-path.js';
import { problemOf, shownEvent } from './shown-event.js';

const golden = (category: string, name: string): StoredEvent => {
  const { type, version, data } = JSON.parse(
    readFileSync(projectPath(`test/golden/events/${name}.json`), 'utf8'),
  ) as { type: string; version: number; data: object };
  const metadata = {
    workspaceId: 'ws_4f1c7d2a9b3e4d5f8a6b7c8d9e0f1a2b',
    actor: 'system:spec',
    schemaVersion: version,
  };
  const stream = `${category}-5b0c8f9e-6a5d-8c3b-9f2e-1d4c7b6a5e8f`;
  return {
    id: '0e1d2c3b-4a59-5687-9786-a5b4c3d2e1f0',
    stream,
    revision: 0n,
    position: 0n,
    type,
    data,
    metadata: metadata as never,
  };
};

describe('an event as shown to operators', () => {
  it.each(['ReadingRequested.v1', 'ReadingCompleted.v1'])('has no sealed members: %s', (name) => {
    const event = golden('reading', name);
    const { sealedInput, sealedResult } = event.data as Record<string, string | undefined>;
    const shown = JSON.stringify(shownEvent(event).data);
    expect(shown).not.toContain(sealedInput ?? sealedResult);
    expect(shown).toContain('ws_4f1c7d2a9b3e4d5f8a6b7c8d9e0f1a2b');
  });

  it('is complete when it concerns no person', () => {
    const event = golden('credits', 'CreditsReserved.v1');
    expect(shownEvent(event)).toBe(event);
  });
});

it('a malformed event of an order line has a problem that operators may decide about', () => {
  const of = (stream: string) => ({ ...golden('credits', 'CreditsReserved.v1'), stream });
  expect(problemOf(of('orderline-abc'), '')).toMatch(/\w/);
  expect(() => problemOf(of('unheard-abc'), '')).toThrow('The service does not read unheard-abc.');
});
