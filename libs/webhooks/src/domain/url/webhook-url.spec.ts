import { describe, expect, it } from '@jest/globals';
import { checkWebhookUrl, hostOfUrl, type UrlPolicy } from '../webhook-url.js';

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
    'https://receiver.example:443/',
    'https://receiver.example:80/',
    'https://receiver.example./',
    'https://bücher.example/',
    'https://93.184.215.14/',
    'https://[2606:4700::1111]/',
  ])('may be %s', (text) => expect(codeOf(text)).toBe('ok'));

  it.each([
    ['https:receiver.example', 'https://receiver.example/'],
    ['https:\\\\Receiver.example\\hook', 'https://receiver.example/hook'],
    ['https:////receiver.example:443/a b', 'https://receiver.example/a%20b'],
    [' https://re\tceiver.example/ho\nok\r', 'https://receiver.example/hook'],
    ['https://@receiver.example/', 'https://receiver.example/'],
    ['https://receiver.example/\u202egnp.exe', 'https://receiver.example/%E2%80%AEgnp.exe'],
    ['https://re\u200bceiver.example/', 'https://receiver.example/'],
  ])('is what a URL parser makes of it: %j', (text, href) => {
    expect(checkWebhookUrl(text, strict)).toMatchObject({ ok: true, url: { href } });
  });

  it.each(['', '/', '//', '///', '\\', '\\\\', '/\\/', '\t//', '/\n/', '//\t'])(
    'has no login, fragment or blocked port, whatever is between scheme and host: %j',
    (slashes) => {
      for (const rest of [
        'u:p@receiver.example/',
        'u@receiver.example/',
        ':p@receiver.example/',
        'receiver.example/#f',
        'receiver.example:2\t2/',
      ])
        expect(codeOf(`https:${slashes}${rest}`)).toBe('invalid_webhook_url');
    },
  );

  it.each([
    ['', 'nothing'],
    ['receiver.example/hook', 'without a scheme'],
    ['/hook', 'relative'],
    ['ftp://receiver.example/', 'of another scheme'],
    ['file:///etc/passwd', 'a file'],
    ['http://receiver.example/', 'http'],
    ['https://', 'without a host'],
    ['https://user:pass@receiver.example/', 'with credentials'],
    ['https://user@receiver.example/', 'with a user'],
    ['https://receiver.example/#part', 'with a fragment'],
    ['https://receiver.example/#', 'with an empty fragment'],
    ['https://receiver/', 'a single label'],
    ['https://a..b/', 'with an empty label'],
    ['https://receiver.example:22/', 'a low port'],
    ['https://receiver.example:0/', 'port 0'],
    ['https://receiver.example:6667/', 'a port browsers block'],
    ['https://receiver.example:70000/', 'an impossible port'],
    ['https://exa%mple.com/', 'with a forbidden host character'],
    [`https://receiver.example/${'a'.repeat(2_048)}`, 'too long'],
    [`https://receiver.example/${'é'.repeat(1_000)}`, 'too long once encoded'],
  ])('is invalid: "%s" (%s)', (text) => expect(codeOf(text)).toBe('invalid_webhook_url'));

  it('may be http only where the operator allows it', () => {
    expect(codeOf('http://receiver.example/')).toBe('invalid_webhook_url');
    expect(codeOf('http://receiver.example/', lenient)).toBe('ok');
  });

  it.each([
    ...[
      'http://2130706433/',
      'http://0x7f.1/',
      'http://0177.0.0.1/',
      'http://127.1/',
      'http://１２７.０.０.１/',
    ],
    ...[
      'http://[::1]/',
      'http://[::ffff:127.0.0.1]/',
      'http://[64:ff9b::7f00:1]/',
      'http://[2002:7f00:1::]/',
    ],
    ...[
      'http://[fe80::1]/',
      'http://169.254.169.254/latest/meta-data',
      'http://100.100.100.200/',
      'http://127.0.0.1./',
      'http:\\\\127.0.0.1:80\\@example.com/',
    ],
    ...['http://[::]/', 'http://0/', 'http://10.0.0.1:8080/', 'http://127。0。0。1/'],
    ...['http://localhost/', 'http://LOCALHOST:3000/', 'http://localhost./', 'http://a.localhost/'],
    ...['http://metadata.google.internal/', 'http://internal/'],
  ])('is blocked: %s', (text) => {
    expect(codeOf(text, lenient)).toBe('webhook_url_blocked');
    expect(codeOf(text.replace('http:', 'https:'))).toBe('webhook_url_blocked');
  });

  it('names what works in development when it names this machine', () => {
    const detailOf = (text: string) => {
      const verdict = checkWebhookUrl(text, lenient);
      return verdict.ok ? '' : verdict.detail;
    };
    expect(detailOf('http://localhost:3000/hook')).toMatch(/127\.0\.0\.1.*WEBHOOK_ALLOW_CIDRS/);
    expect(detailOf('http://metadata.google.internal/')).not.toContain('127.0.0.1');
  });

  it('may name an opened address, but never a metadata address', () => {
    const opened = { allowHttp: true, allowCidrs: ['127.0.0.0/8', '192.0.0.0/24', '169.254.0.0/16'] };
    expect(codeOf('http://127.0.0.1:8080/', opened)).toBe('ok');
    expect(codeOf('http://2130706433:8080/', opened)).toBe('ok');
    expect(codeOf('http://192.0.0.8/', opened)).toBe('ok');
    expect(codeOf('http://192.0.0.192/', opened)).toBe('webhook_url_blocked');
    expect(codeOf('http://169.254.169.254/', opened)).toBe('webhook_url_blocked');
  });

  it('is checked quickly, however hostile', () => {
    expect(codeOf(`https://${'a.'.repeat(100_000)}`)).toBe('invalid_webhook_url');
    expect(codeOf(`https://${'@'.repeat(2_000)}`)).toBe('invalid_webhook_url');
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
