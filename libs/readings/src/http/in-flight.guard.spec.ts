import { EventEmitter } from 'node:events';
import type { ExecutionContext } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import { setPrincipal } from '#platform/auth/authentication.js';
import type { Admission, ReadingsInFlight } from '../read-models/in-flight.js';
import { InFlightGuard } from './request-reading.js';

/** A count that answers when it is told to, and the admissions that still count. */
const counting = () => {
  const admitted = new Set<Admission>();
  let answer = (): void => undefined;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const inFlight = {
    admit: async () => {
      await answered;
      const admission: Admission = { at: 0 };
      admitted.add(admission);
      return admission;
    },
    withdrawn: (_workspace: string, _livemode: boolean, admission: Admission) => admitted.delete(admission),
  };
  const guard = new InFlightGuard(inFlight as unknown as ReadingsInFlight, { READINGS_IN_FLIGHT: 10 });
  return { admitted, guard, answer: () => answer() };
};

const request = (response: Partial<EventEmitter> & { closed: boolean }) => {
  const asked = {};
  setPrincipal(asked as never, { workspaceId: 'ws_1', mode: 'live' } as never);
  const http = { getRequest: () => asked, getResponse: () => response };
  return { switchToHttp: () => http } as unknown as ExecutionContext;
};
const open = () =>
  Object.assign(new EventEmitter(), {
    closed: false,
    statusCode: 503,
    getHeader: () => undefined,
    hasHeader: () => false,
  });

describe('A request whose reading would be in flight', () => {
  it('counts until its answer, if that accepts nothing', async () => {
    const { guard, admitted, answer } = counting();
    answer();
    const response = open();
    expect(await guard.canActivate(request(response))).toBe(true);
    expect(admitted.size).toBe(1);
    response.emit('close');
    expect(admitted.size).toBe(0);
  });

  it('passes while the count does not answer, and does not count when it answers later', async () => {
    const { guard, admitted, answer } = counting();
    expect(await guard.canActivate(request(open()))).toBe(true);
    answer();
    await new Promise(setImmediate);
    expect(admitted.size).toBe(0);
  });

  it('does not count when its caller has left before', async () => {
    const { guard, admitted, answer } = counting();
    answer();
    expect(await guard.canActivate(request(Object.assign(open(), { closed: true })))).toBe(true);
    expect(admitted.size).toBe(0);
  });
});
