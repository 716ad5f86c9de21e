import { expect, it } from '@jest/globals';
import { httpUnderTest } from './testing/http-under-test.js';

const { lines, listen } = httpUnderTest();

it('A request whose caller gave up has its line, with the status 499', async () => {
  const leaving = new AbortController();
  const asked = fetch(`http://127.0.0.1:${await listen()}/hangs`, { signal: leaving.signal });
  setTimeout(() => leaving.abort(), 50);
  await expect(asked).rejects.toThrow();
  const found = (): string | undefined => lines.find((line) => line.includes('"/hangs"'));
  while (!found()) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(JSON.parse(found()!)).toMatchObject({ msg: 'request', route: '/hangs', status: 499 });
});
