import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { projectPath } from '#platform/project-path.js';

/** Whoever appends: one place decides what an unknown outcome means, for every command of every process. */
const APPENDS = 'libs/event-sourcing/src/commands/command-executor.ts';
/** Stores around a store, which pass an append on. */
const PASS_ON = [
  'libs/event-sourcing/src/projections/set-aside.ts',
  'libs/event-sourcing/src/store/event-store.ts',
  'libs/platform/src/telemetry/metrics.ts',
];
/** Not the event store, but a store's own parts and an ops command's store that opens late. */
const OTHERS = /^(libs\/embedded-event-store\/|apps\/ops\/src\/lazy-event-store\.ts$)/;
const NOT_SHIPPED = /[.]spec[.]ts$|\/testing\/|^libs\/[^/]+\/test\//;

const sources = ['apps', 'libs'].flatMap((folder) =>
  readdirSync(projectPath(folder), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name}`)
    .filter((name) => /\.tsx?$/.test(name) && !name.includes('node_modules/') && !NOT_SHIPPED.test(name)),
);

describe('The event store', () => {
  it('is appended to in one place, which repeats an append of unknown outcome', () => {
    const appending = sources.filter(
      (name) => !OTHERS.test(name) && /\bstore\.append\(/i.test(readFileSync(projectPath(name), 'utf8')),
    );
    expect(appending.toSorted()).toEqual([APPENDS, ...PASS_ON].toSorted());
  });
});
