import { describe, expect, it } from '@jest/globals';
import { eventually, status } from '../../../test/receiver.js';
import { send, senderWith, sending } from '../../../test/sending.js';

const test = sending();

describe('An attempt', () => {
  it('succeeds on 2xx', async () => {
    expect(await send(senderWith(), test.receiver.url)).toMatchObject({ error: null, statusCode: 204 });
    expect(test.receiver.received).toMatchObject([
      { path: '/hook', headers: { 'accept-encoding': 'identity' } },
    ]);
  });

  it('does not follow a redirect', async () => {
    test.receiver.answer = status(302, { location: 'http://169.254.169.254/latest/meta-data' });
    expect(await send(senderWith(), test.receiver.url)).toMatchObject({
      error: 'redirect_not_followed',
      statusCode: 302,
    });
    expect(test.receiver.received).toHaveLength(1);
  });

  it('sends no credentials and no cookies', async () => {
    test.receiver.answer = status(200, { 'set-cookie': 'session=1' });
    const sender = senderWith();
    await send(sender, test.receiver.url);
    await send(sender, test.receiver.url);
    for (const { headers } of test.receiver.received) {
      expect(headers).not.toHaveProperty('cookie');
      expect(headers).not.toHaveProperty('authorization');
    }
  });

  it('reads Retry-After of 429 and 503 alone', async () => {
    test.receiver.answer = status(503, { 'retry-after': '120' });
    expect(await send(senderWith(), test.receiver.url)).toMatchObject({
      error: 'http_error',
      retryAfterMs: 120_000,
    });
    test.receiver.answer = status(500, { 'retry-after': '120' });
    expect(await send(senderWith(), test.receiver.url)).toMatchObject({
      error: 'http_error',
      retryAfterMs: null,
    });
  });

  it('keeps a connection for the next, but shares none between endpoints', async () => {
    const sender = senderWith();
    await send(sender, test.receiver.url);
    await new Promise((resolve) => setImmediate(resolve));
    await send(sender, test.receiver.url);
    expect(test.receiver.sockets.size).toBe(1);
    await send(sender, test.receiver.url, 'we_b');
    expect(test.receiver.sockets.size).toBe(2);
  });

  it('ignores proxy variables', async () => {
    const before = { ...process.env };
    Object.assign(process.env, {
      HTTP_PROXY: 'http://127.0.0.1:1',
      http_proxy: 'http://127.0.0.1:1',
      NODE_USE_ENV_PROXY: '1',
    });
    try {
      expect(await send(senderWith(), test.receiver.url)).toMatchObject({ error: null });
    } finally {
      process.env = before;
    }
  });

  it('ends without a result when it is cancelled', async () => {
    test.receiver.answer = () => undefined;
    const sender = senderWith();
    const sent = send(sender, test.receiver.url);
    await eventually(() => test.receiver.received.length === 1);
    sender.cancel();
    expect(await sent).toBe('cancelled');
  });
});
