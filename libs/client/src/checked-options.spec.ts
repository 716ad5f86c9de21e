import { describe, expect, it, jest } from '@jest/globals';
import { ReadingServiceClient, type ClientOptions } from './index.js';

const fetchIt = jest.fn<typeof fetch>(async () => Response.json({ readingId: 'r' }));
const service = (options: Partial<ClientOptions> = {}): ReadingServiceClient => {
  fetchIt.mockClear();
  return new ReadingServiceClient({
    baseUrl: 'http://readings.example',
    apiKey: 'k',
    fetch: fetchIt,
    ...options,
  });
};
const caught = (error: unknown): unknown => error;
const refusal = (name: string) => expect.stringMatching(new RegExp(`^${name} must be `));

describe('An option that is not valid is named, and nothing is sent', () => {
  it.each(['commande-№5', 'a\nb', '', 'k'.repeat(256)])('idempotencyKey %j', async (idempotencyKey) => {
    const failure = await service()
      .readings.create({} as never, { idempotencyKey })
      .catch(caught);
    expect(failure).toBeInstanceOf(TypeError);
    expect(failure).toMatchObject({
      message: `idempotencyKey must be 1 to 255 printable ASCII characters; it is ${JSON.stringify(idempotencyKey)}`,
    });
    expect(fetchIt).not.toHaveBeenCalled();
  });

  it.each([Number.NaN, Infinity, 0, -1, 1.5, 2 ** 31])('timeoutMs %p', (timeoutMs) => {
    expect(() => service({ timeoutMs })).toThrow(
      `timeoutMs must be a whole number of milliseconds, 1 to 2147483647; it is ${timeoutMs}`,
    );
  });

  it.each<[keyof ClientOptions, number]>([
    ['attempts', 0],
    ['attempts', Number.NaN],
    ['longestPauseMs', Number.NaN],
  ])('%s %p', (name, value) => {
    expect(() => service({ [name]: value })).toThrow(new RegExp(`^${name} must be `));
  });

  it('a number of seconds or milliseconds to wait', async () => {
    const { readings } = service();
    expect(await readings.get('r', { waitSeconds: Number.NaN }).catch(caught)).toMatchObject({
      message: refusal('waitSeconds'),
    });
    expect(await readings.waitUntilDone('r', { timeoutMs: Number.NaN }).catch(caught)).toMatchObject({
      message: refusal('timeoutMs'),
    });
    expect(fetchIt).not.toHaveBeenCalled();
  });

  it('a credential, without showing it', async () => {
    for (const secret of ['ek_live_1\nek_live_2', 'ek_№5', 'two words']) {
      const said = (name: string) => `${name} must have only printable ASCII characters, without spaces`;
      expect(() => service({ apiKey: secret })).toThrow(said('apiKey'));
      const client = service({ apiKey: '', token: async () => secret });
      expect(await client.credits().catch(caught)).toMatchObject({ message: said('token') });
    }
    expect(fetchIt).not.toHaveBeenCalled();
  });

  it('a header that cannot be sent, or a signal that is none', async () => {
    const client = service();
    const isTypeError = { name: 'TypeError' };
    expect(await client.webhooks.update('we_1', {}, { ifMatch: '"№5"' }).catch(caught)).toMatchObject(
      isTypeError,
    );
    expect(await client.credits({ signal: {} as AbortSignal }).catch(caught)).toMatchObject(isTypeError);
    expect(fetchIt).not.toHaveBeenCalled();
  });
});

describe('An option that is valid', () => {
  it('may have a space in a key, a line end after a credential, and the longest timeout with a wait', async () => {
    const client = service({ apiKey: 'ek_live_1\n', timeoutMs: 2 ** 31 - 1 });
    await client.readings.create({} as never, { idempotencyKey: 'order 4711' });
    await client.readings.get('r', { waitSeconds: 20 });
    expect(fetchIt).toHaveBeenCalledTimes(2);
  });
});
