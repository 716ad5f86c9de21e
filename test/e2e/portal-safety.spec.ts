import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { PAGES } from '../../apps/portal/src/pages/pages.js';
import { TEXTS } from '../../apps/portal/src/texts/texts.js';
import { Browsers, describeInBrowser } from '../support/browser.js';
import { Integrator, person, until, untilHandled } from '../support/integrator.js';
import { sharedStack, startReceiver, type Receiver, type Stack } from '../support/index.js';
import { PortalVisitor } from '../support/portal-visitor.js';
import { axeFaults, enter, isTooWide, linkTo, signedIn } from './support/portal-page.js';

const texts = TEXTS.en;

let stack: Stack;
let browsers: Browsers;
let receiver: Receiver;
let customer: Integrator;
/** Every page of the portal with what is on it, of the customer. */
let paths: readonly string[];

/** A workspace with a reading that is not about a person of Latin letters alone, and with an endpoint that fails. */
const seed = async (): Promise<readonly string[]> => {
  receiver.answer = () => ({ status: 500 });
  const { body: endpoint } = await customer.call<{ endpointId: string }>('POST', '/api/v1/webhooks', {
    body: { url: receiver.url, description: 'הזמנות', headers: { 'x-shop': 'one' } },
  });
  const ordered = await customer.create({ ...person(), externalId: 'הזמנה-7' });
  expect(ordered.status).toBe(202);
  const { readingId } = ordered.body;
  await customer.untilEnded(readingId);
  const at = `/webhooks/${endpoint.endpointId}`;
  const deliveries = () =>
    customer.call<{ data: { deliveryId: string; eventId: string; attempts: number }[] }>(
      'GET',
      `/api/v1${at}/deliveries`,
    );
  await until(
    async () => (await deliveries()).body.data.some(({ attempts }) => attempts > 0),
    () => 'the first attempt fails',
  );
  const [delivery] = (await deliveries()).body.data;
  const { body: replay } = await customer.call<{ replayId: string }>('POST', `/api/v1${at}/replay`, {
    body: { since: '2026-01-01T00:00:00Z', dryRun: true },
  });
  const ids: Record<string, string> = {
    readingId,
    endpointId: endpoint.endpointId,
    deliveryId: delivery!.deliveryId,
    eventId: delivery!.eventId,
    replayId: replay.replayId,
    period: new Date().toISOString().slice(0, 7),
  };
  return PAGES.map(({ path }) => `/portal${path.replaceAll(/:(\w+)/g, (_, name: string) => ids[name]!)}`);
};

/** What a person gets of another workspace: the API says that it is there, or that it is not. */
const CLOSED: readonly number[] = [403, 404];

/** What gives a file to save instead of a page. */
const isFile = (path: string): boolean => /\/(document|csv|pdf)$/.test(path);

describeInBrowser('the portal', () => {
  beforeAll(async () => {
    [stack, browsers, receiver] = await Promise.all([sharedStack(), Browsers.start(), startReceiver()]);
    customer = await Integrator.open(stack, 400);
    paths = await seed();
  });
  afterAll(async () => {
    await browsers?.stop();
    await receiver?.stop();
    await stack?.stop();
  });

  it('shows every page in both themes and at 320 pixels without a fault that axe finds', async () => {
    const faults: string[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, context, complaints } = await signedIn(browsers, stack, customer.workspaceId, 'en', {
        colorScheme,
      });
      await page.setViewportSize({ width: colorScheme === 'light' ? 1_280 : 320, height: 800 });
      for (const path of paths.filter((one) => !isFile(one))) {
        const answer = await page.goto(path);
        if (answer?.status() !== 200) faults.push(`${path}: ${answer?.status()}`);
        faults.push(...(await axeFaults(page)).map((fault) => `${path} (${colorScheme}): ${fault}`));
        if (await isTooWide(page)) faults.push(`${path}: wider than its window`);
      }
      faults.push(...complaints.all);
      await context.close();
    }
    expect(faults).toEqual([]);
  });

  it('shows nothing of a workspace to another one, on any page and in any form', async () => {
    const other = await Integrator.open(stack, 100);
    const visitor = await PortalVisitor.signedIn(stack, other.workspaceId);
    const found: string[] = [];
    for (const path of paths.filter((one) => /[0-9a-f-]{36}/.test(one))) {
      const { status, text } = await visitor.get(path);
      if (!CLOSED.includes(status) || text.includes(customer.workspaceId)) found.push(`${status} ${path}`);
    }
    for (const page of PAGES.filter(({ path, actions }) => actions && path.includes(':')))
      for (const action of Object.keys(page.actions!)) {
        const path = paths[PAGES.indexOf(page)]!;
        const confirm = new URL(receiver.url).host;
        const { status } = await visitor.post(path, {
          action,
          confirm,
          about: 'x',
          type: 'reading.completed',
        });
        // 400: of what was typed. Nothing of the other workspace is looked at before.
        if (status !== 400 && !CLOSED.includes(status)) found.push(`${status} ${action} ${path}`);
      }
    expect(found).toEqual([]);
  });

  it('can be used without JavaScript', async () => {
    const { page, context } = await signedIn(browsers, stack, customer.workspaceId, 'en', {
      javaScript: false,
    });
    await page.goto('/portal/webhooks/new');
    await page.getByLabel(texts.webhooks.url, { exact: true }).fill(receiver.url);
    await page.getByRole('button', { name: texts.webhooks.create }).click();
    const secret = await page.locator('.secret code').innerText();
    await page.getByRole('link', { name: texts.newEndpoint.toEndpoint }).click();
    await page.getByRole('button', { name: texts.endpoint.pause }).click();
    await page.getByText(texts.done.endpointPaused).waitFor();
    await page.getByRole('link', { name: texts.endpoint.pages.edit }).click();
    const { host } = new URL(receiver.url);
    await page.getByLabel(texts.editEndpoint.removeConfirm(host)).fill(host);
    await page.getByRole('button', { name: texts.editEndpoint.remove }).click();
    await page.getByText(texts.done.endpointDeleted).waitFor();
    await page.goto('/portal/readings/new');
    await page.getByLabel(texts.newReading.firstNames).fill('Ada');
    await page.getByLabel(texts.newReading.lastNames).fill('Example');
    await page.getByLabel(texts.reading.dateOfBirth).fill('1990-04-12');
    await page.getByRole('button', { name: texts.newReading.submit }).click();
    // The browser loads the page again until the reading is done.
    await page
      .getByRole('link', { name: new RegExp(texts.reading.download) })
      .first()
      .waitFor();
    expect(secret).toMatch(/^whsec_/);
    await context.close();
  });

  it('can be used with the keyboard alone', async () => {
    const { page, context } = await signedIn(browsers, stack, customer.workspaceId);
    const focused = () =>
      page.evaluate(() => {
        const { activeElement: one } = document;
        const ring = one && getComputedStyle(one).outlineStyle;
        return { text: one?.textContent?.trim() ?? '', ring };
      });
    const tabTo = async (text: string) => {
      for (let steps = 0; steps < 60; steps += 1) {
        await page.keyboard.press('Tab');
        const { text: here, ring } = await focused();
        if (here !== '' && ring === 'none') throw new Error(`No ring shows the focus of ${here}`);
        if (here === text) return;
      }
      throw new Error(`The keyboard does not reach ${text}`);
    };
    await page.keyboard.press('Tab');
    expect((await focused()).text).toBe(texts.skip);
    await tabTo(texts.areas.readings);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: texts.readings.title, level: 1 }).waitFor();
    await page.goto('/portal/readings/new');
    await page.getByLabel(texts.newReading.firstNames).focus();
    await page.keyboard.type('Ada');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.type('Example');
    await page.keyboard.press('Tab');
    await page.keyboard.type('04121990');
    await page.getByLabel(texts.reading.dateOfBirth).evaluate((field: HTMLInputElement) => field.value);
    await tabTo(texts.newReading.submit);
    await page.keyboard.press('Enter');
    await page.getByText(texts.done.ordered).waitFor();
    await context.close();
  });

  it('refuses a form that a page elsewhere sends', async () => {
    const { page, context } = await signedIn(browsers, stack, customer.workspaceId);
    await page.route('http://elsewhere.example/', (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: `<form method="post" action="${stack.baseUrl}/portal/mode"><input name="mode" value="test"><button>Go</button></form>`,
      }),
    );
    await page.goto('http://elsewhere.example/');
    await page.getByRole('button').click();
    await page.getByText(texts.foreignForm.title).first().waitFor();
    await page.goto('/portal');
    expect(await page.getByText(texts.testMode).count()).toBe(0);
    await context.close();
  });

  const newEndpoint = async (page: Page): Promise<string> => {
    await page.goto('/portal/webhooks/new');
    await page.getByLabel(texts.webhooks.url, { exact: true }).fill(receiver.url);
    await page.getByRole('button', { name: texts.webhooks.create }).click();
    return page.locator('.secret code').innerText();
  };

  it.each([true, false])(
    'shows a secret once, also after the back button (script: %s)',
    async (javaScript) => {
      const { page, context } = await signedIn(browsers, stack, customer.workspaceId, 'en', { javaScript });
      const secret = await newEndpoint(page);
      await page.getByRole('link', { name: texts.newEndpoint.toEndpoint }).click();
      await page.getByRole('button', { name: texts.endpoint.trial }).waitFor();
      expect(await page.content()).not.toContain(secret);
      await page.goBack().catch(() => null);
      // Where a page cannot be shown again, the browser says so on one of its own.
      let shown = '';
      await until(
        async () => (shown = await page.content()) !== '',
        () => 'the browser has gone back',
      );
      expect(shown).not.toContain(secret);
      await context.close();
    },
  );

  it('does its work once when a form is sent twice', async () => {
    const visitor = await PortalVisitor.signedIn(stack, customer.workspaceId);
    const before = (await visitor.get('/portal/webhooks')).text.split('/portal/webhooks/we_').length;
    const form = {
      action: 'create',
      key: '6a1f4f0e-6d3c-4a55-9d42-1f2b8f9a7e11',
      url: receiver.url,
      events: 'reading.completed',
    };
    const [first, second] = [
      await visitor.post('/portal/webhooks/new', form),
      await visitor.post('/portal/webhooks/new', form),
    ];
    expect([first.text.includes('whsec_'), second.text.includes('whsec_')]).toEqual([true, false]);
    expect(second.text).toContain(texts.newEndpoint.secretLost);
    await untilHandled(stack);
    const after = (await visitor.get('/portal/webhooks')).text.split('/portal/webhooks/we_').length;
    expect(after - before).toBe(1);
  });

  it('asks for a new link when a session ends while a form is open', async () => {
    const scopes = ['readings:read', 'webhooks:read', 'webhooks:write'];
    const key = await customer.withKey('--scopes', ['portal:write', ...scopes].join());
    const { body } = await key.call<{ sessionId: string; url: string }>('POST', '/api/v1/portal/sessions', {
      body: { scopes: [...scopes, 'persons:read'] },
    });
    const { page, context } = await browsers.person(stack.baseUrl);
    await enter(page, stack.baseUrl + new URL(body.url).pathname);
    await page.goto('/portal/webhooks/new');
    await page.getByLabel(texts.webhooks.url, { exact: true }).fill(receiver.url);
    await key.call('DELETE', `/api/v1/portal/sessions/${body.sessionId}`);
    await page.getByRole('button', { name: texts.webhooks.create }).click();
    await page.getByText(texts.sessionEnded.title).first().waitFor();
    await context.close();
  });

  it('says so when an endpoint was deleted meanwhile', async () => {
    const { page, context } = await signedIn(browsers, stack, customer.workspaceId);
    await newEndpoint(page);
    await page.getByRole('link', { name: texts.newEndpoint.toEndpoint }).click();
    await page.getByRole('button', { name: texts.endpoint.trial }).waitFor();
    const endpointId = new URL(page.url()).pathname.split('/').at(-1)!;
    await customer.call('DELETE', `/api/v1/webhooks/${endpointId}`);
    await page.getByRole('button', { name: texts.endpoint.trial }).click();
    await page.getByText(texts.problems.webhook_not_found).first().waitFor();
    await context.close();
  });

  it('keeps names of any direction to themselves', async () => {
    const { page, context } = await signedIn(browsers, stack, customer.workspaceId);
    await page.goto(paths.find((path) => path.startsWith('/portal/readings/') && path.length > 40)!);
    expect(await page.locator('bdi').getByText('הזמנה-7').count()).toBeGreaterThan(0);
    await page.goto('/portal/webhooks');
    expect(await page.locator('[dir=auto], bdi').getByText('הזמנות').count()).toBeGreaterThan(0);
    await context.close();
  });

  it('loads within 60 kB', async () => {
    const { page, context } = await browsers.person(stack.baseUrl);
    const sizes: Promise<number>[] = [];
    page.on('requestfinished', (request) =>
      sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize)),
    );
    await enter(page, await linkTo(stack, customer.workspaceId));
    await page.waitForLoadState('networkidle');
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    expect(bytes).toBeLessThan(60_000);
    expect(bytes).toBeGreaterThan(1_000);
    await context.close();
  });
});
