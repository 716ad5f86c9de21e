import { expect, it, afterEach, describe } from '@jest/globals';
import { NameServer } from '../../../test/name-server.js';
import { eventually } from '../../../test/receiver.js';
import { hostResolver } from './sender.js';

const ipv4 = [192, 0, 2, 1];
const ipv6 = [0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
const zones = {
  'receiver.example': { A: [ipv4], AAAA: [ipv6] },
  'four.example': { A: [ipv4] },
  'six.example': { AAAA: [ipv6] },
  'empty.example': {},
  ...Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`slow${n}.example`, { A: [ipv4] }])),
};
const isSlow = (question: string): boolean => question.startsWith('slow');

describe('Resolving a name', () => {
  let server: NameServer;
  afterEach(() => server.stop());

  const resolverWith = (lookUpMs?: number) =>
    hostResolver({ servers: [server.address], ...(lookUpMs && { lookUpMs }) });

  it('finds the addresses of both families, or of the only one that has some', async () => {
    server = await NameServer.start(zones);
    const resolve = resolverWith();
    expect([...(await resolve('receiver.example'))].sort()).toEqual(['192.0.2.1', '2001:db8::1']);
    expect(await resolve('four.example')).toEqual(['192.0.2.1']);
    expect(await resolve('six.example')).toEqual(['2001:db8::1']);
  });

  it('rejects when there is no address', async () => {
    server = await NameServer.start(zones);
    const resolve = resolverWith();
    await expect(resolve('empty.example')).rejects.toMatchObject({ code: 'ENODATA' });
    await expect(resolve('unknown.example')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });

  it('does not wait for other names, however many are unanswered', async () => {
    server = await NameServer.start(zones, isSlow);
    const resolve = resolverWith();
    const slow = Array.from({ length: 16 }, (_, n) => resolve(`slow${n}.example`));
    await eventually(() => server.asked.filter(isSlow).length === 32);
    expect(await resolve('four.example')).toEqual(['192.0.2.1']);
    server.release();
    expect(new Set((await Promise.all(slow)).flat())).toEqual(new Set(['192.0.2.1']));
  });

  it('waits only briefly for a name server that never answers for IPv6', async () => {
    server = await NameServer.start(zones, (question) => question.endsWith('AAAA'));
    const since = performance.now();
    expect(await resolverWith(60_000)('receiver.example')).toEqual(['192.0.2.1']);
    // Its queries would be repeated for six seconds.
    expect(performance.now() - since).toBeLessThan(4_000);
  });

  it('uses one family’s addresses when the other has no answer, and ends when neither has', async () => {
    server = await NameServer.start(zones, (question) => isSlow(question) || question.endsWith('AAAA'));
    const resolve = resolverWith(200);
    expect(await resolve('receiver.example')).toEqual(['192.0.2.1']);
    await expect(resolve('slow0.example')).rejects.toMatchObject({ code: 'ECANCELLED' });
  });
});
