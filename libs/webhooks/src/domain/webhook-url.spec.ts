import { describe, expect, it } from '@jest/globals';
import {
  isReachable,
  isSameAddress,
  checkWebhookUrl,
  hostOfUrl,
  ranges,
  type UrlPolicy,
} from './webhook-url.js';

const EVERYTHING = ['0.0.0.0/0', '::/0'];

describe('An address webhooks may reach', () => {
  it.each(['1.1.1.1', '93.184.215.14', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450:4007::8'])(
    'is public: %s',
    (address) => expect(isReachable(address, [])).toBe(true),
  );

  const IPV4 =
    '0.0.0.0 0.255.255.255 10.0.0.1 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.254 169.254.0.1 ' +
    '172.16.0.1 172.31.255.255 192.0.0.8 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.19.255.255 ' +
    '198.51.100.7 203.0.113.9 224.0.0.1 240.0.0.1 255.255.255.255 169.254.169.254 100.100.100.200';
  const IPV6 =
    ':: ::1 ::7f00:1 ::ffff:127.0.0.1 ::ffff:7f00:1 64:ff9b::7f00:1 2002:7f00:1:: fe80::1 fc00::1 ' +
    'fd00:ec2::254 ff02::1 2001::1 2001:db8::1 3fff::1 4000::1 100::1 fe80::1%eth0';
  it.each(`${IPV4} ${IPV6}`.split(' '))('is not of special purpose: %s', (address) =>
    expect(isReachable(address, [])).toBe(false),
  );

  it('may be in a range that the operator opened, but in no other', () => {
    expect(isReachable('127.0.0.1', ranges('127.0.0.0/8'))).toBe(true);
    expect(isReachable('::ffff:127.0.0.1', ranges('127.0.0.0/8'))).toBe(true);
    expect(isReachable('10.0.0.1', ranges('127.0.0.0/8'))).toBe(false);
    expect(isReachable('fd12::1', ranges('fd12::/16'))).toBe(true);
  });

  it('may be behind NAT64, as all of IPv4 is for a network without it: the IPv4 address decides', () => {
    expect(isReachable('64:ff9b::5db8:d70e', [])).toBe(true);
    for (const inside of ['64:ff9b::a00:1', '64:ff9b::7f00:1', '64:ff9b::c0a8:101'])
      for (const opened of [[], ['64:ff9b::/96'], ['64:ff9b::/96', '172.16.0.0/12']])
        expect(isReachable(inside, ranges(...opened))).toBe(false);
    expect(isReachable('64:ff9b::a00:1', ranges('10.0.0.0/8'))).toBe(true);
  });
});

describe('An allow-list', () => {
  it('of any ranges at all opens no metadata address, however it is written', () => {
    // One expectation for 56,000 pairs: each takes as long as the check.
    const opened: string[][] = [];
    const cidrs = (address: string, bits: number): string[] =>
      Array.from({ length: bits + 1 }, (_, length) => `${address}/${length}`);
    const v4 = ['169.254.169.254', '169.254.170.2', '100.100.100.200', '192.0.0.192', '168.63.129.16'];
    for (const address of v4) {
      const hex = address
        .split('.')
        .map((part) => Number(part).toString(16).padStart(2, '0'))
        .join('');
      const groups = `${hex.slice(0, 4)}:${hex.slice(4)}`;
      const spellings = [
        `::ffff:${groups}`,
        `64:ff9b::${groups}`,
        `64:ff9b:1::${groups}`,
        `::ffff:0:${groups}`,
        `64:ff9b:1:0:${hex.slice(0, 2)}:${hex.slice(2, 6)}:${hex.slice(6)}00:0`,
        `64:ff9b:1:ab${hex.slice(0, 2)}:${hex.slice(2, 4)}:${hex.slice(4)}::`,
        // RFC 6052, 2.2: of a prefix of 48 bits, around the byte that must be zero.
        `64:ff9b:1:${hex.slice(0, 4)}:${hex.slice(4, 6)}:${hex.slice(6)}00::`,
        `::${groups}`,
        `2002:${groups}::`,
      ];
      for (const spelling of [address, ...spellings]) {
        for (const cidr of [
          ...cidrs(address, 32),
          ...spellings.flatMap((one) => cidrs(one, 128)),
          ...EVERYTHING,
        ])
          if (isReachable(spelling, ranges(cidr, '127.0.0.0/8'))) opened.push([spelling, cidr]);
      }
    }
    for (const v6 of ['fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254', 'fe80::a9fe:a9fe'])
      for (const cidr of cidrs(v6, 128)) if (isReachable(v6, ranges(cidr))) opened.push([v6, cidr]);
    expect(opened).toEqual([]);
  });
});

describe('Two addresses', () => {
  it('are the same however they are written', () => {
    expect(isSameAddress('::ffff:127.0.0.1', '127.0.0.1')).toBe(true);
    expect(isSameAddress('2606:4700:0::1', '2606:4700::1')).toBe(true);
    expect(isSameAddress('127.0.0.1', '127.0.0.2')).toBe(false);
    expect(isSameAddress('127.0.0.1', '')).toBe(false);
  });
});

const strict: UrlPolicy = { allowHttp: false, allowCidrs: [] };
const lenient: UrlPolicy = { allowHttp: true, allowCidrs: [] };
const codeOf = (text: string, policy = strict): string => {
  const verdict = checkWebhookUrl(text, policy);
  return verdict.ok ? 'ok' : verdict.code;
};

describe('A webhook URL', () => {
  it.each([
    'https://receiver.example/hook?a=1',
    'HTTPS://Receiver.Example',
    'https://receiver.example:8443/',
    'https://receiver.example:80/',
    'https://bücher.example/',
    'https://93.184.215.14/',
    'https://[2606:4700::1111]/',
  ])('may be %s', (text) => expect(codeOf(text)).toBe('ok'));

  it.each([
    ['https:receiver.example', 'https://receiver.example/'],
    ['https:\\\\Receiver.example\\hook', 'https://receiver.example/hook'],
    ['https:////receiver.example:443/a b', 'https://receiver.example/a%20b'],
    [' https://re\tceiver.example/ho\nok\r', 'https://receiver.example/hook'],
    ['https://receiver.example/\u202egnp.exe', 'https://receiver.example/%E2%80%AEgnp.exe'],
  ])('is what a URL parser makes of it: %j', (text, href) => {
    expect(checkWebhookUrl(text, strict)).toMatchObject({ ok: true, url: { href } });
  });

  it.each([
    ['', 'nothing'],
    ['receiver.example/hook', 'without a scheme'],
    ['ftp://receiver.example/', 'of another scheme'],
    ['http://receiver.example/', 'http'],
    ['https://', 'without a host'],
    ['https://user:pass@receiver.example/', 'with credentials'],
    ['https://receiver.example/#part', 'with a fragment'],
    ['https://receiver.example/#', 'with an empty fragment'],
    ['https://receiver/', 'a single label'],
    ['https://a..b/', 'with an empty label'],
    ['https://receiver.example:22/', 'a low port'],
    ['https://receiver.example:6667/', 'a port browsers block'],
    [`https://receiver.example/${'a'.repeat(2_048)}`, 'too long'],
    [`https://receiver.example/${'é'.repeat(1_000)}`, 'too long once encoded'],
  ])('is invalid: "%s" (%s)', (text) => expect(codeOf(text)).toBe('invalid_webhook_url'));

  it('may be http only where the operator allows it', () => {
    expect(codeOf('http://receiver.example/')).toBe('invalid_webhook_url');
    expect(codeOf('http://receiver.example/', lenient)).toBe('ok');
  });

  const SPELT =
    '2130706433 0x7f.1 0177.0.0.1 127.1 0 １２７.０.０.１ 127。0。0。1 127.0.0.1. 169.254.169.254 100.100.100.200 ' +
    '10.0.0.1:8080 [::] [::1] [::ffff:127.0.0.1] [64:ff9b::7f00:1] [2002:7f00:1::] [fe80::1]';
  const NAMED = 'localhost LOCALHOST:3000 localhost. a.localhost metadata.google.internal internal';
  it.each([
    ...`${SPELT} ${NAMED}`.split(' ').map((host) => `http://${host}/`),
    'http:\\\\127.0.0.1:80\\@example.com/',
  ])('is blocked: %s', (text) => {
    expect(codeOf(text, lenient)).toBe('webhook_url_blocked');
    expect(codeOf(text.replace('http:', 'https:'))).toBe('webhook_url_blocked');
  });
});

it.each([
  ['https://Receiver.example:8443/a?b', 'receiver.example'],
  ['https:///receiver.example.', 'receiver.example'],
  ['https://rec%65iver.example/', 'receiver.example'],
  ['https://2130706433/', '127.0.0.1'],
  ['https://[::1]:8443/', '[::1]'],
])('The host of %s is %s', (url, host) => {
  expect(hostOfUrl(url)).toBe(host);
});
