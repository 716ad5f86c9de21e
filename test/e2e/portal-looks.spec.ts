import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { TEXTS } from '../../apps/portal/src/texts/texts.js';
import { Browsers, describeInBrowser } from '../support/browser.js';
import { Integrator, person } from '../support/integrator.js';
import { sharedStack, type Stack } from '../support/index.js';
import { enter } from './support/portal-page.js';

const texts = TEXTS.en;

let stack: Stack;
let browsers: Browsers;
let customer: Integrator;

/** A page of a reading that takes a while, in a browser. */
const openSlow = async (seconds: number) => {
  const host = await customer.withKey(
    '--mode',
    'test',
    '--scopes',
    'portal:write,readings:read,readings:write',
  );
  const { readingId } = (await host.create({ ...person(), metadata: { test_outcome: `slow:${seconds}` } }))
    .body;
  const { body } = await host.call<{ url: string }>('POST', '/api/v1/portal/sessions', {
    body: { scopes: ['readings:read'] },
  });
  const { page, context } = await browsers.person(stack.baseUrl);
  await enter(page, stack.baseUrl + new URL(body.url).pathname);
  await page.goto(`/portal/readings/${readingId}`);
  return { page, context };
};

describeInBrowser('a page that looks again by itself', () => {
  beforeAll(async () => {
    [stack, browsers] = await Promise.all([sharedStack(), Browsers.start()]);
    customer = await Integrator.open(stack, 100);
  });
  afterAll(async () => {
    await browsers?.stop();
    await stack?.stop();
  });

  it('says so while the service does not answer, and goes on when it does', async () => {
    const { page, context } = await openSlow(60);
    for (const answer of [undefined, 503, 429]) {
      await page.route('**/portal/readings/*', (route) =>
        answer === undefined ? route.abort() : route.fulfill({ status: answer, body: 'busy' }),
      );
      await page.getByRole('alert').getByText(texts.stale).waitFor();
      // What the page showed is still there.
      expect(await page.getByRole('heading', { level: 1 }).innerText()).toMatch(/^Reading [0-9a-f]{8}$/);
      await page.unroute('**/portal/readings/*');
      await page.getByText(texts.stale).waitFor({ state: 'detached' });
    }
    await context.close();
  });

  it('tells those who hear it that the reading is done', async () => {
    const { page, context } = await openSlow(8);
    await page.locator('#told[role=status]').getByText(texts.states.completed).waitFor({ state: 'attached' });
    await context.close();
  });
});
