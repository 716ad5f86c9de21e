import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fold } from '#event-sourcing/core/decider.js';
import { MODES, type Mode } from '#event-sourcing/core/request-context.js';
import { API_KEY_SCOPES, ORDINARY_SCOPES } from '#platform/auth/scopes.js';
import { isWithin, readNetwork } from '../contracts/networks.js';
import { OPERATOR, type ApiKeyTerms, type AskedTerms } from '../contracts/index.js';
import { type WorkspaceCommand, workspaceDecider, type Workspace } from './workspace.decider.js';

const NETWORKS = [
  '0.0.0.0/0',
  '10.0.0.0/8',
  '10.1.0.0/16',
  '10.1.2.0/24',
  '10.2.0.0/16',
  '::/0',
  '2001:db8::/32',
];
/** One address inside and one outside of each network. */
const ADDRESSES = ['10.1.2.3', '10.1.9.9', '10.2.0.1', '10.9.9.9', '192.0.2.1', '2001:db8::1', '2001:db9::1'];
const INSTANTS = ['2026-05-01T00:00:00.000Z', '2026-06-01T00:00:00.000Z', '2026-07-01T00:00:00.000Z'];

const scopes = fc.uniqueArray(fc.constantFrom<string>(...API_KEY_SCOPES), { minLength: 1 });
const networks = fc.uniqueArray(fc.constantFrom(...NETWORKS), { maxLength: 3 });
const expiresAt = fc.option(fc.constantFrom(...INSTANTS));
const mode = fc.constantFrom<Mode>(...MODES);

const terms: fc.Arbitrary<ApiKeyTerms> = fc.record({
  label: fc.constant(null),
  mode,
  scopes,
  networks,
  expiresAt,
});
/** A key that may issue keys: a caller with another one does not get this far. */
const managing = terms.map((one) => ({ ...one, scopes: [...new Set([...one.scopes, 'keys:write'])] }));
const asked: fc.Arbitrary<AskedTerms> = fc.record({
  label: fc.constant(null),
  mode,
  scopes: fc.option(scopes),
  networks: fc.option(networks),
  expiresAt,
});

/** One step of somebody who holds keys: which of them is used, and what it is asked to do. */
type Step = { readonly with: number } & (
  | { readonly does: 'issue'; readonly asked: AskedTerms }
  | { readonly does: 'rotate'; readonly target: number; readonly overlapMs: number }
);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ with: fc.nat(20), does: fc.constant('issue' as const), asked }),
  fc.record({
    with: fc.nat(20),
    does: fc.constant('rotate' as const),
    target: fc.nat(20),
    overlapMs: fc.constantFrom(0, 60_000),
  }),
);

const everywhere = (list: readonly string[], address: string): boolean =>
  list.length === 0 ||
  isWithin(
    address,
    list.map((text) => readNetwork(text)!),
  );
const endOf = ({ expiresAt: end }: ApiKeyTerms): number => (end === null ? Infinity : Date.parse(end));

describe('what somebody with one key can reach by issuing and rotating keys', () => {
  it('is never beyond that key, and never another key that manages keys', () => {
    const gained: number[] = [];
    fc.assert(
      fc.property(
        managing,
        fc.array(terms, { maxLength: 4 }),
        fc.array(step, { maxLength: 12 }),
        (own, others, steps) => {
          const start = ['own', ...others.map((_, index) => `other${index}`)];
          let state: Workspace = fold(workspaceDecider, workspaceDecider.initialState, [
            { type: 'WorkspaceOpened', data: { workspaceId: 'ws_1', name: 'Atelier' } },
          ]);
          const run = (command: WorkspaceCommand): boolean => {
            const decision = workspaceDecider.decide(command, state);
            if (decision.kind === 'accept') state = fold(workspaceDecider, state, decision.events);
            return decision.kind === 'accept';
          };
          const common = { hash: 'h', limit: 100, now: Date.parse('2026-04-04T00:00:00Z') };
          [own, ...others].forEach((one, index) =>
            run({
              type: 'IssueApiKey',
              keyId: start[index]!,
              ordinaryScopes: [],
              manager: OPERATOR,
              asked: one,
              ...common,
            }),
          );
          // The caller holds the secrets of its own key and of every key that it got. It knows the ids of all keys.
          const held = ['own'];
          for (const [index, one] of steps.entries()) {
            const by = held[one.with % held.length]!;
            const used = state.standing.get(by);
            // The route refuses keys without the scope.
            if (!used?.scopes.includes('keys:write')) continue;
            const keyId = `new${index}`;
            const manager = { keyId: by, sees: [used.mode] };
            const known = [...start, ...held];
            const accepted =
              one.does === 'issue'
                ? run({
                    type: 'IssueApiKey',
                    keyId,
                    asked: one.asked,
                    ordinaryScopes: ORDINARY_SCOPES,
                    manager,
                    ...common,
                  })
                : run({
                    type: 'RotateApiKey',
                    keyId,
                    previous: known[one.target % known.length]!,
                    overlapMs: one.overlapMs,
                    manager,
                    ...common,
                  });
            if (accepted) held.push(keyId);
          }
          gained.push(held.length - 1);
          for (const keyId of held.slice(1)) {
            const got = state.standing.get(keyId);
            if (!got) continue;
            expect(got.mode).toBe(own.mode);
            expect(got.scopes).not.toContain('keys:write');
            expect(own.scopes).toEqual(expect.arrayContaining([...got.scopes]));
            expect(endOf(got)).toBeLessThanOrEqual(endOf(own));
            for (const address of ADDRESSES)
              if (everywhere(got.networks, address)) expect(everywhere(own.networks, address)).toBe(true);
          }
        },
      ),
      { numRuns: 400 },
    );
    // The property is about something: keys are gained in many of the runs.
    expect(gained.filter((count) => count > 0).length).toBeGreaterThan(10);
  });
});
