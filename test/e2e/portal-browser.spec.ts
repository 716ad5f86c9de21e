import { beforeAll, describe, expect, it } from '@jest/globals';
import { readPdf } from '#publishing/pdf/testing/pdf-text.js';
import type { Page } from 'playwright-core';
import { PAGES } from '../../apps/portal/src/pages/pages.js';
import { TEXTS } from '../../apps/portal/src/texts/texts.js';
import { Browsers, describeInBrowser, type Complaints } from '../support/browser.js';
import { fixture, sharedStack, startReceiver } from '../support/index.js';
import { Integrator, person, until } from '../support/integrator.js';
import { enter, faultsInBothThemes, handOf, linkTo, signedIn, type Hand } from './support/portal-page.js';

describeInBrowser('a person in a browser', () => {
  const stack = fixture(sharedStack);
  const browsers = fixture(Browsers.start);

  // Every text has both languages: the tests of the portal's texts compare them.
  describe('who reads French', () => {
    const language = 'fr';
    const texts = TEXTS[language];
    const PATIENCE = 300_000;
    const customer = fixture(() => Integrator.open(stack, 400));
    const receiver = fixture(startReceiver);
    let page: Page;
    let complaints: Complaints;
    let [reading, endpoint] = ['', ''];
    let { press, follow, field, reads, heading, secret, save, to } = {} as Hand;

    beforeAll(async () => {
      ({ page, complaints } = await signedIn(browsers, stack, customer.workspaceId, language));
      page.setDefaultTimeout(PATIENCE);
      ({ press, follow, field, reads, heading, secret, save, to } = handOf(page, texts));
      // What trials are about: the page of a slow machine would ask to try again until it is made.
      await (await customer.inTestMode()).published();
    });

    it('orders a reading and sees it come, on a page that looks again by itself', async () => {
      await page.goto('/portal/readings/new');
      await field(texts.newReading.firstNames).fill('Zoé, Anne');
      await field(texts.newReading.lastNames).fill('Lefèvre');
      await field(texts.reading.dateOfBirth).fill('1990-04-12');
      await field(texts.readings.externalId).fill('order-1');
      await press(texts.newReading.submit);
      await reads(texts.done.ordered);
      await page.getByText(texts.states.completed, { exact: true }).first().waitFor();
      const download = page.getByRole('link', { name: new RegExp(texts.reading.download) });
      await download.first().waitFor();
      reading = new URL(page.url()).pathname.split('/').at(-1)!;
    });

    it('publishes another version', async () => {
      await press(texts.reading.republish);
      await reads(texts.done.republishing);
      // An endpoint is sent what comes after it, and the next tests count what came before.
      await customer.untilTold(3);
    });

    it('makes a link to a document, sees it once, and ends it', async () => {
      await press(texts.reading.createLink);
      expect(await secret()).toMatch(/^http/);
      await page.goto(`/portal/readings/${reading}`);
      expect(await page.locator('.secret').count()).toBe(0);
      await press(texts.reading.revokeLink);
      await reads(texts.done.linkEnded);
    });

    it('creates an endpoint, and sees its secret once', async () => {
      await to('webhooks');
      await reads(texts.webhooks.empty);
      await follow(texts.webhooks.create);
      await field(texts.webhooks.url).fill(receiver.url);
      await field(texts.webhooks.description).fill('קבלות 2026');
      await field(texts.webhooks.headers).fill('x-shop: one');
      await press(texts.webhooks.create);
      await heading(texts.newEndpoint.done);
      receiver.secret = await secret();
      expect(receiver.secret).toMatch(/^whsec_/);
      await page.getByText('timingSafeEqual').first().waitFor();
      await follow(texts.newEndpoint.toEndpoint);
      await page.getByText('קבלות 2026').waitFor();
      endpoint = new URL(page.url()).pathname;
      await page.goBack();
      expect(await page.content()).not.toContain(receiver.secret);
    });

    it('sends a trial, which arrives with a valid signature', async () => {
      await page.goto(endpoint);
      await press(texts.endpoint.trial);
      await reads(texts.done.trialSent);
      const { verified, headers } = await receiver.waitFor(() => true, PATIENCE);
      expect([verified, headers['x-shop'], headers['x-service-test']]).toEqual([true, 'one', 'true']);
      await page.getByText(`204 · ${texts.states.succeeded}`).first().waitFor();
    });

    it('reads one delivery, copies its body, and sends it again', async () => {
      await page.goto(endpoint);
      await page.getByRole('table').getByRole('link').first().click();
      await reads(texts.delivery.trial);
      await page.locator('pre + button').click();
      await page.getByRole('button', { name: texts.copied }).waitFor();
      const copied = await page.evaluate(() => navigator.clipboard.readText());
      expect(JSON.parse(copied)).toEqual(JSON.parse(String(receiver.received[0]!.rawBody)));
      await press(texts.delivery.redeliver);
      await reads(texts.done.redelivering);
      await receiver.waitFor(({ headers }) => headers['x-service-redelivery'] === 'true', PATIENCE);
    });

    it('pauses an endpoint and lets it receive again', async () => {
      await page.goto(endpoint);
      const asked = page.waitForEvent('dialog');
      await Promise.all([press(texts.endpoint.pause), asked.then((dialog) => dialog.accept())]);
      expect((await asked).message()).toBe(texts.sure(texts.endpoint.pause));
      await reads(texts.done.endpointPaused);
      await press(texts.endpoint.resume);
      await reads(texts.endpoint.pause);
    });

    it('changes an endpoint', async () => {
      await page.goto(`${endpoint}/edit`);
      await field(texts.webhooks.url).fill('https://user:secret@receiver.example/');
      await field(texts.webhooks.description).fill('Kept');
      await press(texts.settings.save);
      await reads(texts.fieldErrors.invalid_webhook_url);
      expect(await field(texts.webhooks.description).inputValue()).toBe('Kept');
      await field(texts.webhooks.url).fill(receiver.url);
      await press(texts.settings.save);
      await reads(texts.done.endpointSaved);
      await reads('x-shop');
    });

    it('makes a new secret, and sees until when the old one signs', async () => {
      await follow(texts.endpoint.pages.secret);
      await reads(texts.secretPage.alone);
      await press(texts.secretPage.submit);
      const rotated = await secret();
      expect([/^whsec_/.test(rotated), rotated === receiver.secret]).toEqual([true, false]);
      receiver.secret = rotated;
      await page.goto(`${endpoint}/secret`);
      expect(await page.locator('p.done time').getAttribute('datetime')).toMatch(/Z$/);
      expect(await page.content()).not.toContain(rotated);
    });

    it('counts past events before sending them again', async () => {
      await page.goto(`${endpoint}/replay`);
      await press(texts.replay.count);
      // Completed, published, and published again: the endpoint is younger than they are.
      await reads(texts.replay.counted('3'));
      const before = receiver.received.length;
      await press(texts.replay.start);
      await reads(texts.states.finished);
      await until(
        () => receiver.received.length === before + 3,
        () => `${receiver.received.length - before} of 3 events arrived`,
      );
      expect(receiver.received.slice(before).every(({ verified }) => verified)).toBe(true);
    });

    it('reads the newest events, and one of them', async () => {
      await to('events');
      await page.getByRole('table').getByRole('link').first().click();
      await page.locator('pre').getByText('"externalId": "order-1"').waitFor();
    });

    it('issues a key, sees it once, replaces and revokes it', async () => {
      await to('keys');
      await field(texts.keys.label).fill('Shop');
      await field(texts.scopes['readings:read']).check();
      await press(texts.keys.issue);
      const key = await secret();
      expect(key).toMatch(/^ek_live_/);
      await page.goto('/portal/keys');
      expect(await page.content()).not.toContain(key);
      const row = page.getByRole('row', { name: 'Shop' });
      await row.locator('summary').click();
      await row.getByRole('button', { name: texts.keys.rotate }).click();
      expect(await secret()).not.toBe(key);
      await page.goto('/portal/keys');
      await row.first().locator('summary').click();
      page.once('dialog', (dialog) => void dialog.accept());
      await row.first().getByRole('button', { name: texts.keys.revoke }).click();
      await reads(texts.done.keyRevoked);
    });

    it('reads the credits, and saves the statement of the month as PDF in the language of the session', async () => {
      await to('credits');
      await page.locator('main .actions a').first().click();
      await reads(texts.movements.CreditsCaptured);
      const { bytes } = await save(texts.statement.pdf);
      expect(readPdf(bytes).text).toContain(texts.movements.CreditsCaptured);
    });

    it('erases a reading after typing what is asked', async () => {
      await page.goto(`/portal/readings/${reading}`);
      const confirm = field(texts.reading.eraseConfirm(reading.slice(0, 8)));
      await confirm.fill('yes');
      await press(texts.reading.erase);
      await reads(texts.fieldErrors.unconfirmed);
      await confirm.fill(reading.slice(0, 8));
      await press(texts.reading.erase);
      await reads(texts.done.erased);
      expect(await page.content()).not.toContain('Zoé');
    });

    it('deletes an endpoint after typing its host', async () => {
      await page.goto(`${endpoint}/edit`);
      const { host } = new URL(receiver.url);
      await field(texts.editEndpoint.removeConfirm(host)).fill(host);
      await press(texts.editEndpoint.remove);
      await reads(texts.done.endpointDeleted);
      expect((await page.goto(endpoint))?.status()).toBe(404);
      await reads(texts.problems.webhook_not_found);
    });

    it('chooses another language and zone', async () => {
      const other = 'en';
      await to('settings');
      await field(texts.settings.timeZone).fill('America/New_York');
      await field(texts.readings.locale).selectOption(other);
      await press(texts.settings.save);
      await page.getByText(TEXTS[other].done.settingsSaved).waitFor();
      expect(await page.locator('html').getAttribute('lang')).toBe(other);
      await field(TEXTS[other].readings.locale).selectOption(language);
      await press(TEXTS[other].settings.save);
      await reads(texts.done.settingsSaved);
    });

    it('had no page that complained, broke its policy or asked elsewhere', () => {
      expect(complaints.all).toEqual([]);
    });
  });

  describe('who reads English', () => {
    const texts = TEXTS.en;
    const customer = fixture(() => Integrator.open(stack, 400));
    const receiver = fixture(startReceiver);
    /** Every page of the portal with what is on it, of the customer. */
    let paths: readonly string[];
    beforeAll(async () => {
      paths = await seed();
    });

    /** A workspace with a reading that is not about a person of Latin letters alone, and with an endpoint that fails. */
    const seed = async (): Promise<readonly string[]> => {
      receiver.answer = () => ({ status: 500 });
      const endpointId = await customer.endpoint(receiver, {
        description: 'הזמנות',
        headers: { 'x-shop': 'one' },
      });
      const readingId = await customer.published({ ...person(), externalId: 'הזמנה-7' });
      const at = `/webhooks/${endpointId}`;
      type Listed = { deliveryId: string; eventId: string; attempts: number };
      const deliveries = () => customer.call<{ data: Listed[] }>('GET', `/api/v1${at}/deliveries`);
      const isTried = async () => (await deliveries()).body.data.some(({ attempts }) => attempts > 0);
      await until(isTried, 'the first attempt fails');
      const [delivery] = (await deliveries()).body.data;
      const { body: replay } = await customer.call<{ replayId: string }>('POST', `/api/v1${at}/replay`, {
        body: { since: '2026-01-01T00:00:00Z', dryRun: true },
      });
      const ids: Record<string, string> = {
        readingId,
        endpointId,
        deliveryId: delivery!.deliveryId,
        eventId: delivery!.eventId,
        replayId: replay.replayId,
        period: new Date().toISOString().slice(0, 7),
      };
      return PAGES.map(({ path }) => `/portal${path.replaceAll(/:(\w+)/g, (_, name: string) => ids[name]!)}`);
    };

    /** What gives a file to save instead of a page. */
    const isFile = (path: string): boolean => /\/(document|csv|pdf)$/.test(path);

    /** A page of a reading that takes a while, in a browser. */
    const openSlow = async (seconds: number) => {
      const scopes = 'portal:write,readings:read,readings:write';
      const host = await customer.withKey('--mode', 'test', '--scopes', scopes);
      const ordered = { ...person(), metadata: { test_outcome: `slow:${seconds}` } };
      const { readingId } = (await host.create(ordered)).body;
      const { status, body } = await host.call<{ url: string }>('POST', '/api/v1/portal/sessions', {
        body: { scopes: ['readings:read'] },
      });
      expect([status, body]).toEqual([201, expect.objectContaining({ url: expect.any(String) })]);
      const { page } = await browsers.person(stack.baseUrl);
      await enter(page, stack.baseUrl + new URL(body.url).pathname);
      await page.goto(`/portal/readings/${readingId}`);
      return page;
    };

    it('shows every page in both themes and at 320 pixels without a fault that axe finds', async () => {
      const faults: string[] = [];
      const { page, complaints } = await signedIn(browsers, stack, customer.workspaceId);
      for (const path of paths.filter((one) => !isFile(one))) {
        const answer = await page.goto(path);
        if (answer?.status() !== 200) faults.push(`${path}: ${answer?.status()}`);
        faults.push(...(await faultsInBothThemes(page)).map((fault) => `${path}: ${fault}`));
      }
      expect([...faults, ...complaints.all]).toEqual([]);
    });

    it('can be used without JavaScript, and then shows a secret once, also after the back button', async () => {
      const { page } = await signedIn(browsers, stack, customer.workspaceId, 'en', {
        javaScript: false,
      });
      await page.goto('/portal/webhooks/new');
      await page.getByLabel(texts.webhooks.url, { exact: true }).fill(receiver.url);
      await page.getByRole('button', { name: texts.webhooks.create }).click();
      const secret = await page.locator('.secret code').innerText();
      expect(secret).toMatch(/^whsec_/);
      await page.getByRole('link', { name: texts.newEndpoint.toEndpoint }).click();
      await page.getByRole('button', { name: texts.endpoint.pause }).waitFor();
      expect(await page.content()).not.toContain(secret);
      await page.goBack().catch(() => null);
      // Where a page cannot be shown again, the browser says so on one of its own.
      let shown = '';
      await until(async () => (shown = await page.content()) !== '', 'the browser has gone back');
      expect(shown).not.toContain(secret);
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
    });

    it('can be used with the keyboard alone', async () => {
      const { page } = await signedIn(browsers, stack, customer.workspaceId);
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
      await page.getByRole('heading', { name: texts.areas.readings, level: 1 }).waitFor();
      await page.goto('/portal/readings/new');
      await page.getByLabel(texts.newReading.firstNames).focus();
      await page.keyboard.type('Ada');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      await page.keyboard.type('Example');
      await page.keyboard.press('Tab');
      await page.keyboard.type('04121990');
      await tabTo(texts.newReading.submit);
      await page.keyboard.press('Enter');
      await page.getByText(texts.done.ordered).waitFor();
    });

    it('keeps names of any direction to themselves', async () => {
      const { page } = await signedIn(browsers, stack, customer.workspaceId);
      await page.goto(paths.find((path) => path.startsWith('/portal/readings/') && path.length > 40)!);
      expect(await page.locator('bdi').getByText('הזמנה-7').count()).toBeGreaterThan(0);
      await page.goto('/portal/webhooks');
      expect(await page.locator('[dir=auto], bdi').getByText('הזמנות').count()).toBeGreaterThan(0);
    });

    it('loads within 60 kB', async () => {
      const { page } = await browsers.person(stack.baseUrl);
      const sizes: Promise<number>[] = [];
      page.on('requestfinished', (request) =>
        sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize)),
      );
      await enter(page, await linkTo(stack, customer.workspaceId));
      await page.waitForLoadState('networkidle');
      const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
      expect(bytes).toBeLessThan(60_000);
      expect(bytes).toBeGreaterThan(1_000);
    });

    it('says so while the service does not answer, and goes on until the reading is done, as those hear who do not see', async () => {
      const [told, page] = [await openSlow(20), await openSlow(60)];
      for (const answer of [undefined, 503]) {
        await page.route('**/portal/readings/*', (route) =>
          answer === undefined ? route.abort() : route.fulfill({ status: answer, body: 'busy' }),
        );
        await page.getByRole('alert').getByText(texts.stale).waitFor();
        // What the page showed is still there.
        expect(await page.getByRole('heading', { level: 1 }).innerText()).toMatch(/^Reading [0-9a-f]{8}$/);
        await page.unroute('**/portal/readings/*');
        await page.getByText(texts.stale).waitFor({ state: 'detached' });
      }
      await told
        .locator('#told[role=status]')
        .getByText(texts.states.completed)
        .waitFor({ state: 'attached' });
    });
  });
});
