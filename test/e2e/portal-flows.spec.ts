import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readPdf } from '#publishing/pdf/testing/pdf-text.js';
import type { Page } from 'playwright-core';
import { TEXTS } from '../../apps/portal/src/texts/texts.js';
import { Browsers, describeInBrowser, type Complaints } from '../support/browser.js';
import { Integrator, until } from '../support/integrator.js';
import { sharedStack, startReceiver, type Receiver, type Stack } from '../support/index.js';
import { enter, handOf, isTooWideOnTelephone, linkTo, signedIn, type Hand } from './support/portal-page.js';

let stack: Stack;
let browsers: Browsers;

describeInBrowser('a person in a browser', () => {
  beforeAll(async () => {
    [stack, browsers] = await Promise.all([sharedStack(), Browsers.start()]);
  });
  afterAll(async () => {
    await browsers?.stop();
    await stack?.stop();
  });

  for (const language of ['en', 'fr'] as const)
    describeInBrowser(`who reads ${language}`, () => {
      const texts = TEXTS[language];
      const PATIENCE = 60_000;
      let customer: Integrator;
      let receiver: Receiver;
      let page: Page;
      let complaints: Complaints;
      let [reading, endpoint] = ['', ''];
      let { press, follow, field, reads, heading, secret, save, to } = {} as Hand;

      beforeAll(async () => {
        [customer, receiver] = await Promise.all([Integrator.open(stack, 400), startReceiver()]);
        ({ page, complaints } = await signedIn(browsers, stack, customer.workspaceId, language));
        page.setDefaultTimeout(PATIENCE);
        ({ press, follow, field, reads, heading, secret, save, to } = handOf(page, texts));
      });
      afterAll(() => receiver?.stop());

      it('comes in by a link that works once', async () => {
        await heading(texts.overview.title);
        const link = await linkTo(stack, customer.workspaceId, '--language', language);
        const first = await browsers.person(stack.baseUrl, { language });
        await enter(first.page, link);
        const second = await browsers.person(stack.baseUrl, { language });
        expect((await second.page.goto(link))?.status()).toBe(410);
        await second.page.getByText(texts.linkEnded.title).first().waitFor();
        await Promise.all([first.context.close(), second.context.close()]);
      });

      it('reads what to do first in a new workspace', () => reads(texts.overview.stepWebhook));
      it('orders a reading and sees it come, on a page that looks again by itself', async () => {
        await page.goto('/portal/readings/new');
        await field(texts.newReading.firstNames).fill('Zoé, Anne');
        await field(texts.newReading.lastNames).fill('Lefèvre');
        await field(texts.reading.dateOfBirth).fill('1990-04-12');
        await field(texts.readings.externalId).fill('order-1');
        await press(texts.newReading.submit);
        await reads(texts.done.ordered);
        await page.getByText(texts.history.completed, { exact: true }).first().waitFor();
        const download = page.getByRole('link', { name: new RegExp(texts.reading.download) });
        await download.first().waitFor();
        reading = new URL(page.url()).pathname.split('/').at(-1)!;
      });

      it('keeps what was typed into a form that is refused', async () => {
        await page.goto('/portal/readings/new');
        await field(texts.newReading.firstNames).fill('4nne');
        await field(texts.newReading.lastNames).fill('Lefèvre');
        await field(texts.reading.dateOfBirth).fill('1990-04-12');
        await press(texts.newReading.submit);
        await page.locator('[role=alert]:focus').getByText(texts.problems.validation_failed).waitFor();
        expect(await field(texts.newReading.lastNames).inputValue()).toBe('Lefèvre');
        expect(await field(texts.newReading.firstNames).getAttribute('aria-invalid')).toBe('true');
      });

      it('finds a reading by an id of its own', async () => {
        await to('readings');
        await field(texts.readings.externalId).fill('order-1');
        await press(texts.filter);
        await page.getByRole('link', { name: reading }).click();
        await page.getByText('Zoé').first().waitFor();
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

      it('reads one delivery, and copies its body', async () => {
        await page.goto(endpoint);
        await page.getByRole('table').getByRole('link').first().click();
        await reads(texts.delivery.trial);
        await page.locator('pre + button').click();
        await page.getByRole('button', { name: texts.copied }).waitFor();
        const copied = await page.evaluate(() => navigator.clipboard.readText());
        expect(JSON.parse(copied)).toEqual(JSON.parse(String(receiver.received[0]!.rawBody)));
        await page.getByText(texts.delivery.headers).first().click();
        await reads(texts.delivery.sealed);
      });

      it('sends an event again', async () => {
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
        await press(texts.webhooks.save);
        await reads(texts.fieldErrors.invalid_webhook_url);
        expect(await field(texts.webhooks.description).inputValue()).toBe('Kept');
        await field(texts.webhooks.url).fill(receiver.url);
        await press(texts.webhooks.save);
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
        expect(await isTooWideOnTelephone(page)).toBe(false);
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

      it('filters deliveries', async () => {
        await page.goto(endpoint);
        await field(texts.deliveries.status).selectOption('exhausted');
        await press(texts.filter);
        await reads(texts.nothingFound);
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

      it('reads the credits, and a statement of the month', async () => {
        await to('credits');
        await page.locator('main .actions a').first().click();
        await reads(texts.movements.CreditsCaptured);
        expect((await save(texts.statement.csv)).name).toMatch(/[.]csv$/);
      });

      it('saves the statement as PDF, in the language of the session', async () => {
        const { bytes } = await save(texts.statement.pdf);
        expect(readPdf(bytes).text).toContain(texts.movements.CreditsCaptured);
      });

      it('sees test readings in test mode alone', async () => {
        await press(texts.toTestMode);
        await reads(texts.testMode);
        await to('readings');
        // Of the trial.
        await page.getByRole('table').getByRole('link').first().waitFor();
        expect(await page.content()).not.toContain(reading);
        await press(texts.toLiveMode);
        await page.getByText(texts.testMode).waitFor({ state: 'detached' });
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
        const other = language === 'en' ? 'fr' : 'en';
        await to('settings');
        await field(texts.settings.timeZone).fill('America/New_York');
        await field(texts.settings.language).selectOption(other);
        await press(texts.settings.save);
        await page.getByText(TEXTS[other].done.settingsSaved).waitFor();
        expect(await page.locator('html').getAttribute('lang')).toBe(other);
        await field(TEXTS[other].settings.language).selectOption(language);
        await press(TEXTS[other].settings.save);
        await reads(texts.done.settingsSaved);
      });

      it('signs out', async () => {
        await press(texts.signOut);
        await heading(texts.signedOut.title);
        expect((await page.goto('/portal'))?.status()).toBe(401);
      });

      it('had no page that complained, broke its policy or asked elsewhere', () => {
        expect(complaints.all).toEqual([]);
      });
    });
});
