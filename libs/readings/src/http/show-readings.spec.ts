import { expect, it } from '@jest/globals';
import { setStanding } from '#platform/auth/authentication.js';
import { Problem } from '#platform/http/problem.js';
import { ReadingsController } from './show-readings.js';

const caller = { workspaceId: 'ws_1', sees: ['live'] } as never;
/** A reading that completes while the request is held; the key ends before, or stands. */
const held = async (prefer: string | undefined, keyEnds: boolean) => {
  const reading = (status: string) => ({ reading_id: 'r', workspace_id: 'ws_1', livemode: true, status });
  const opened: string[] = [];
  let looks = 0;
  const readings = {
    find: async () => reading((looks += 1) === 1 ? 'queued' : 'completed'),
    opened: async ({ status }: ReturnType<typeof reading>) => {
      opened.push(status);
      throw new Error('opened');
    },
  };
  const headers: Record<string, string> = {};
  const request = {} as never;
  setStanding(request, async () => {
    if (keyEnds) throw new Problem('unauthenticated');
  });
  const response = {
    destroyed: false,
    req: request,
    set: (name: string, text: string) => (headers[name] = text),
  };
  const controller = new ReadingsController(readings as never, {} as never, {} as never);
  const outcome = await controller
    .get('r', undefined, prefer, caller, response as never)
    .catch((error: unknown) => (error instanceof Problem ? error.code : (error as Error).message));
  return { outcome, opened, headers };
};

it('gives nothing to a caller whose key ended while the request was held', async () => {
  expect(await held('wait=5', true)).toEqual({ outcome: 'unauthenticated', opened: [], headers: {} });
  expect(await held('wait=5', false)).toEqual({
    outcome: 'opened',
    opened: ['completed'],
    headers: { 'Preference-Applied': 'wait=5' },
  });
  expect(await held(undefined, true)).toEqual({ outcome: 'opened', opened: ['queued'], headers: {} });
});
