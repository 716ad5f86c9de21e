import { expect, it } from '@jest/globals';
import { createHmac } from 'node:crypto';
import { startReceiver } from './start-receiver.js';

it('A receiver keeps received webhooks in order, verifies them, and answers as configured', async () => {
  const receiver = await startReceiver();
  receiver.secret = 'whsec_test';
  receiver.answer = ({ event }) => ({ status: event.sequence === 1 ? 204 : 500 });
  const send = async (sequence: number, secret: string): Promise<number> => {
    const body = JSON.stringify({
      id: `evt_${sequence}`,
      type: 'reading.completed',
      readingId: 'r',
      sequence,
    });
    const t = Math.floor(Date.now() / 1000);
    const signature = createHmac('sha256', secret).update(`${t}.${body}`).digest('hex');
    const { status } = await fetch(receiver.url, {
      method: 'POST',
      headers: { 'x-service-signature': `t=${t},v1=${signature}` },
      body,
    });
    return status;
  };
  try {
    const second = receiver.waitFor(({ event }) => event.sequence === 2, 5_000);
    expect(await send(1, 'whsec_test')).toBe(204);
    expect(await send(2, 'whsec_forged')).toBe(500);
    expect((await second).verified).toBe(false);
    expect(receiver.received.map(({ event, verified }) => [event.sequence, verified])).toEqual([
      [1, true],
      [2, false],
    ]);
    await expect(receiver.waitFor(() => false, 10, 'reading.failed')).rejects.toThrow(
      'reading.failed did not arrive',
    );
  } finally {
    await receiver.stop();
  }
});
