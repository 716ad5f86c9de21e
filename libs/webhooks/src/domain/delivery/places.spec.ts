import { describe, expect, it } from '@jest/globals';
import { PROMPT_MS, Places, REST_MS, UNPROVEN_MS, type KnownEndpoint, type Place } from './places.js';

const LIMIT = 5;

/** A worker's places on a clock of its own. */
const worker = () => {
  const places = new Places();
  const clock = { now: 0 };
  const meet = (endpointId: string, workspaceId = endpointId, failures = 0): KnownEndpoint =>
    places.meet(endpointId, workspaceId, failures);
  const held = new Map<KnownEndpoint, Place[]>();
  /** As the dispatcher asks: up to the window of the endpoint, as far as places allow. @returns attempts started */
  const send = (endpoint: KnownEndpoint): number => {
    let sent = 0;
    while (endpoint.inFlight < places.window(endpoint, LIMIT) && places.allows(endpoint, clock.now)) {
      held.set(endpoint, [...(held.get(endpoint) ?? []), places.start(endpoint, clock.now)]);
      sent += 1;
    }
    return sent;
  };
  /** Ends its oldest attempt. */
  const end = (endpoint: KnownEndpoint, hasSucceeded = true): void => {
    const [first, ...others] = held.get(endpoint)!;
    held.set(endpoint, others);
    places.end(first!, clock.now, hasSucceeded);
  };
  const pass = (ms: number): void => {
    clock.now += ms;
    places.look(clock.now);
  };
  /** Endpoints that each hold what they get, and never answer. */
  const silent = (count: number, name = 'silent'): KnownEndpoint[] =>
    Array.from({ length: count }, (_, n) => meet(`${name}_${n}`));
  const proven = (name: string): KnownEndpoint => {
    const endpoint = meet(name);
    for (let n = 0; n < LIMIT; n += 1) {
      send(endpoint);
      end(endpoint);
    }
    while (endpoint.inFlight > 0) end(endpoint);
    return endpoint;
  };
  return { places, meet, send, end, pass, silent, proven };
};
/** Asks for places every 50 ms for those that do not rest. @returns when the last of `wanted` got its first place, ms */
const firstPlaces = (
  { places, send, pass }: ReturnType<typeof worker>,
  asking: readonly KnownEndpoint[],
  wanted: readonly KnownEndpoint[],
): number => {
  const restUntil = new Map<KnownEndpoint, number>();
  const missing = new Set(wanted);
  let now = 0;
  for (; missing.size > 0; now += 50) {
    for (const endpoint of asking) {
      if ((restUntil.get(endpoint) ?? 0) > now) continue;
      if (send(endpoint) > 0) missing.delete(endpoint);
      else restUntil.set(endpoint, now + (places.restMs(endpoint, now) ?? 0));
    }
    pass(50);
  }
  return now;
};
const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

describe('The places of a worker', () => {
  it('are 128 for attempts that are not overdue, and 1,000 in all', () => {
    const { send, pass, proven } = worker();
    const endpoints = Array.from({ length: 300 }, (_, n) => proven(`proven_${n}`));
    let all = 0;
    for (let second = 0; second < 20; second += 1) {
      const started = sum(endpoints.map(send));
      expect(started).toBeLessThanOrEqual(128);
      all += started;
      pass(PROMPT_MS + 1);
    }
    expect(all).toBeLessThanOrEqual(1_000);
    expect(all).toBeGreaterThan(128);
  });

  it('grow for an endpoint with each prompt end, and shrink to one after an overdue failure', () => {
    const { meet, send, end, pass } = worker();
    const endpoint = meet('we_1');
    expect(send(endpoint)).toBe(1);
    end(endpoint);
    expect(send(endpoint)).toBe(2);
    end(endpoint);
    end(endpoint);
    expect(send(endpoint)).toBe(4);
    pass(PROMPT_MS + 1);
    for (let n = 0; n < 4; n += 1) end(endpoint, false);
    expect(send(endpoint)).toBe(1);
    end(endpoint);
    expect(send(endpoint)).toBe(2);
  });

  it('stay free for those that answer, however many never do', () => {
    const { send, end, pass, silent, proven } = worker();
    const answering = proven('answering');
    const endpoints = silent(2_000);
    for (let second = 0; second < 30; second += 1) {
      for (const endpoint of endpoints) send(endpoint);
      expect(send(answering)).toBe(LIMIT);
      while (answering.inFlight > 0) end(answering);
      pass(PROMPT_MS + 1);
    }
  });

  it('go to a silent endpoint one at a time, and to all of them up to half', () => {
    const { places, send, pass, silent } = worker();
    const endpoints = silent(700);
    for (let second = 0; second < 12; second += 1) {
      for (const endpoint of endpoints) send(endpoint);
      pass(PROMPT_MS + 1);
    }
    expect(Math.max(...endpoints.map(({ inFlight }) => inFlight))).toBe(1);
    const suspects = endpoints.filter((endpoint) => places.standing(endpoint) === 'suspect');
    expect(suspects.length).toBeGreaterThanOrEqual(500);
    expect(suspects.every((endpoint) => !places.allows(endpoint, 60_000))).toBe(true);
  });

  it('go to suspects that failed before this worker knew them, up to 64 at once', () => {
    const { meet, send } = worker();
    const failing = Array.from({ length: 200 }, (_, n) => meet(`we_${n}`, `ws_${n}`, 3));
    expect(sum(failing.map(send))).toBe(64);
  });

  it('give a slow endpoint that succeeds its limit while there is room, else one', () => {
    const { meet, send, end, pass, silent } = worker();
    const slow = meet('slow');
    send(slow);
    pass(PROMPT_MS + 1);
    end(slow, true);
    expect(send(slow)).toBe(LIMIT);
    for (let second = 0; second < 4; second += 1) {
      for (const endpoint of silent(300)) send(endpoint);
      pass(PROMPT_MS + 1);
    }
    while (slow.inFlight > 0) end(slow, true);
    expect(send(slow)).toBe(1);
  });

  it('go to one suspect of a workspace while suspects of others wait', () => {
    const { meet, send, pass, silent } = worker();
    for (let second = 0; second < 6; second += 1) {
      for (const endpoint of silent(300)) send(endpoint);
      pass(PROMPT_MS + 1);
    }
    const greedy = Array.from({ length: 16 }, (_, n) => meet(`greedy_${n}`, 'ws_greedy', 1));
    expect(sum(greedy.map(send))).toBe(1);
  });

  it('give every suspect a turn, the one that has waited longest first', () => {
    const { meet, send, end, pass } = worker();
    const suspects = Array.from({ length: 200 }, (_, n) => meet(`we_${n}`, `ws_${n}`, 1));
    const turns = new Map(suspects.map((endpoint) => [endpoint, 0]));
    // Those with a place ask again before all others.
    for (let round = 0; round < 40; round += 1) {
      const holding = suspects.filter(({ inFlight }) => inFlight > 0);
      for (const endpoint of holding) {
        pass(1);
        end(endpoint, false);
        endpoint.isSlow = true;
        turns.set(endpoint, turns.get(endpoint)! + send(endpoint));
      }
      for (const endpoint of suspects) turns.set(endpoint, turns.get(endpoint)! + send(endpoint));
    }
    const counts = [...turns.values()];
    expect(Math.min(...counts)).toBeGreaterThan(Math.max(...counts) / 2);
  });

  it('do not wait for one that asks no more', () => {
    const { meet, send, end, pass } = worker();
    const suspects = Array.from({ length: 65 }, (_, n) => meet(`we_${n}`, `ws_${n}`, 1));
    const [first, ...others] = suspects as [KnownEndpoint, ...KnownEndpoint[]];
    /** Each of the others ends its attempt and asks for another. @returns how many got a place */
    const goOn = (): number => {
      for (const endpoint of others.filter(({ inFlight }) => inFlight > 0)) {
        end(endpoint, false);
        endpoint.isSlow = true;
      }
      return sum(others.map(send));
    };
    expect(goOn()).toBe(64);
    expect(send(first)).toBe(0);
    for (let passed = 0; passed < 2 * REST_MS; passed += PROMPT_MS / 2) {
      expect(goOn()).toBe(63);
      pass(PROMPT_MS / 2);
    }
    pass(PROMPT_MS / 2);
    expect(goOn()).toBe(64);
  });

  it('reach an endpoint that this worker meets after 500 that never answer within three seconds', () => {
    const one = worker();
    const [silent, newcomer] = [one.silent(500), one.meet('newcomer')];
    expect(firstPlaces(one, [...silent, newcomer], [newcomer])).toBeLessThanOrEqual(3_000);
  });

  it('reach each of 500 that failed before within five seconds', () => {
    const one = worker();
    const failing = Array.from({ length: 500 }, (_, n) => one.meet(`we_${n}`, `ws_${n}`, 3));
    expect(firstPlaces(one, failing, failing)).toBeLessThanOrEqual(5_000);
  });

  it('call those that wait back in their order, as many at a time as may get one', () => {
    const { places, meet, send } = worker();
    const suspects = Array.from({ length: 64 * 10 }, (_, n) => meet(`we_${n}`, `ws_${n}`, 1));
    const waiting = suspects.filter((endpoint) => send(endpoint) === 0);
    const rests = waiting.map((endpoint) => places.restMs(endpoint, 0)!);
    expect(rests).toEqual(rests.toSorted((a, b) => a - b));
    expect(rests.filter((ms) => ms === UNPROVEN_MS)).toHaveLength(64);
    expect(rests.filter((ms) => ms === 3 * UNPROVEN_MS)).toHaveLength(64);
    expect(Math.max(...rests)).toBe(REST_MS);
  });

  it('are left by an attempt at an unproven endpoint before it is overdue', () => {
    const { places, meet, send, pass } = worker();
    const failing = Array.from({ length: 200 }, (_, n) => meet(`we_${n}`, `ws_${n}`, 3));
    expect(sum(failing.map(send))).toBe(64);
    pass(UNPROVEN_MS + 1);
    expect(sum(failing.map(send))).toBe(64);
    expect(places.inFlight).toBe(128);
  });

  it('are free for the next delivery at once when the worker is only busy', () => {
    const { places, meet, send, proven } = worker();
    const busy = Array.from({ length: 100 }, (_, n) => proven(`proven_${n}`));
    const late = proven('late');
    expect(sum(busy.map(send))).toBe(128);
    expect(send(late)).toBe(0);
    expect(places.restMs(late, 0)).toBeNull();
    expect(places.restMs(meet('unknown'), 0)).toBe(UNPROVEN_MS);
  });
});
