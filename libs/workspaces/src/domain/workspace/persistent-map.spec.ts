import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { PersistentMap } from './persistent-map.js';

describe('a persistent map', () => {
  it('equals a Map after any changes, and leaves every earlier state unchanged', () => {
    const key = fc.constantFrom(...Array.from({ length: 40 }, (_, index) => `key${index}`));
    const change = fc.tuple(key, fc.option(fc.nat()));
    fc.assert(
      fc.property(fc.array(change, { maxLength: 120 }), (changes) => {
        let map = PersistentMap.empty<number>();
        const model = new Map<string, number>();
        const states: [PersistentMap<number>, Map<string, number>][] = [];
        for (const [name, value] of changes) {
          states.push([map, new Map(model)]);
          if (value === null) model.delete(name);
          else model.set(name, value);
          map = value === null ? map.without(name) : map.with(name, value);
        }
        for (const [state, expected] of [...states, [map, model] as const]) {
          expect(state.size).toBe(expected.size);
          expect([...state.values()].toSorted()).toEqual([...expected.values()].toSorted());
          for (const [name, value] of expected)
            expect([state.has(name), state.get(name)]).toEqual([true, value]);
        }
      }),
    );
  });

  it('shares all but one path with the previous map, so that each event of a long fold costs the same', () => {
    let map = PersistentMap.empty<number>();
    for (let index = 0; index < 20_000; index += 1) map = map.with(`key${index}`, index);
    const nodesOf = (one: unknown): Set<unknown> => {
      const seen = new Set<unknown>();
      const visit = (node: unknown): void => {
        seen.add(node);
        if (Array.isArray(node)) node.filter(Boolean).forEach(visit);
      };
      visit((one as { root: unknown }).root);
      return seen;
    };
    const before = nodesOf(map);
    const fresh = [...nodesOf(map.with('another', 1))].filter((node) => !before.has(node));
    expect(fresh.length).toBeLessThanOrEqual(4);
  });
});
