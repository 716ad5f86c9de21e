import { describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { testPool } from '../../../../test/support/test-pool.js';
import { IdempotentRequests, type Claim, type RequestIdentity } from './idempotent-requests.js';

const pool = testPool();
const requests = new IdempotentRequests(pool);

const newRequest = (): RequestIdentity => ({
  workspaceId: 'ws_1',
  route: 'POST /things',
  keyDigest: randomBytes(32),
});
const BODY = Buffer.from('one body');
const ANSWER = { status: 201, location: '/things/1', body: '{"thing":1}' };
const begun = async (request: RequestIdentity, body = BODY): Promise<Claim> => {
  const answer = await requests.begin(request, body);
  if (answer.outcome !== 'begun') throw new Error(`It is ${answer.outcome}`);
  return answer.claim;
};
const age = ({ keyDigest }: RequestIdentity, interval: string) =>
  pool.query(
    'update platform.idempotent_request set started_at = now() - $2::interval where key_digest = $1',
    [keyDigest, interval],
  );

describe('A request with an idempotency key', () => {
  it('that was lost with its process may be repeated after a minute, not before', async () => {
    const request = newRequest();
    const { seed } = await begun(request);
    await age(request, '50 seconds');
    expect(await requests.begin(request, BODY)).toEqual({ outcome: 'in_progress' });
    await age(request, '61 seconds');
    expect(await requests.begin(request, Buffer.from('another body'))).toEqual({ outcome: 'another_body' });
    expect(await begun(request)).toMatchObject({ seed, again: true });
    expect(await requests.begin(request, BODY)).toEqual({ outcome: 'in_progress' });
  });

  it('that wakes after another one took its key leaves that key alone', async () => {
    const request = newRequest();
    const frozen = await begun(request);
    await age(request, '61 seconds');
    const next = await begun(request);
    for (const end of [requests.giveUp(frozen), requests.leave(frozen), requests.finish(frozen, ANSWER)]) {
      await end;
      expect(await requests.begin(request, BODY)).toEqual({ outcome: 'in_progress' });
    }
    const answer = { ...ANSWER, location: '/things/2' };
    await requests.finish(next, answer);
    expect(await requests.begin(request, BODY)).toEqual({ outcome: 'answered', answer });
    await requests.giveUp(next);
    expect(await requests.begin(request, BODY)).toEqual({ outcome: 'answered', answer });
  });

  it('that failed may be repeated at once, by the same request, with the same seed', async () => {
    const request = newRequest();
    const first = await begun(request);
    expect(first.again).toBe(false);
    await requests.leave(first);
    expect(await requests.begin(request, Buffer.from('another body'))).toEqual({ outcome: 'another_body' });
    const second = await begun(request);
    expect(second).toMatchObject({ seed: first.seed, again: true });
    await requests.leave(second);
    expect(await begun(request)).toMatchObject({ seed: first.seed, again: true });
  });

  it('has another seed after a refusal, and none once it is answered', async () => {
    const request = newRequest();
    const refused = await begun(request);
    await requests.giveUp(refused);
    const next = await begun(request);
    expect([next.again, next.seed.equals(refused.seed)]).toEqual([false, false]);
    await requests.finish(next, ANSWER);
    const { rows } = await pool.query('select seed from platform.idempotent_request where key_digest = $1', [
      request.keyDigest,
    ]);
    expect(rows).toEqual([{ seed: null }]);
  });

  it('keeps its answer for seven days; then the key starts again without the old answer', async () => {
    const request = newRequest();
    await requests.finish(await begun(request), ANSWER);
    await age(request, '6 days 23 hours');
    expect(await requests.begin(request, BODY)).toEqual({ outcome: 'answered', answer: ANSWER });
    await age(request, '7 days 1 minute');
    expect(await requests.begin(request, Buffer.from('another body'))).toMatchObject({ outcome: 'begun' });
    expect(await requests.begin(request, Buffer.from('another body'))).toEqual({ outcome: 'in_progress' });
  });
});
