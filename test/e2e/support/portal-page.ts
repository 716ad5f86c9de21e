import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import type { Texts } from '../../../apps/portal/src/texts/texts.js';
import type { Stack } from '../../support/index.js';
import type { BrowserOptions, Browsers } from '../../support/browser.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

type Language = 'en' | 'fr';

/** The address of a link that has not been used. @param options of `ops portal link` */
export const linkTo = async (
  stack: Stack,
  workspaceId: string,
  ...options: readonly string[]
): Promise<string> => {
  const { url } = (await stack.ops(['portal', 'link', '--workspace', workspaceId, ...options])) as {
    url: string;
  };
  // The stack may stand behind a proxy that checks answers.
  return stack.baseUrl + new URL(url).pathname;
};

/** Agrees to what the page of a link asks. */
export const enter = async (page: Page, link: string): Promise<void> => {
  await page.goto(link);
  await page.getByRole('button').click();
  await page.waitForURL('**/portal');
};

/** A person who has come in by a link. */
export const signedIn = async (
  browsers: Browsers,
  stack: Stack,
  workspaceId: string,
  language: Language = 'en',
  options: BrowserOptions & { readonly scopes?: string } = {},
) => {
  const person = await browsers.person(stack.baseUrl, options);
  const scopes = options.scopes === undefined ? [] : ['--scopes', options.scopes];
  const link = await linkTo(stack, workspaceId, '--language', language, '--zone', 'Europe/Paris', ...scopes);
  await enter(person.page, link);
  return person;
};

/** What a person does on a page, by the texts that it shows. */
export const handOf = (page: Page, texts: Texts) => ({
  press: (name: string) => page.getByRole('button', { name, exact: true }).click(),
  follow: (name: string) => page.getByRole('link', { name, exact: true }).first().click(),
  field: (label: string) => page.getByLabel(label, { exact: true }),
  reads: (text: string) => page.getByText(text).first().waitFor(),
  heading: (name: string) => page.getByRole('heading', { name, level: 1, exact: true }).waitFor(),
  secret: () => page.locator('.secret code').innerText(),
  /** Follows a link to a file. */
  save: async (name: string) => {
    const link = page.getByRole('link', { name });
    const [saved] = await Promise.all([page.waitForEvent('download'), link.click()]);
    return { name: saved.suggestedFilename(), bytes: readFileSync(await saved.path()) };
  },
  to: (area: keyof Texts['areas']) =>
    page.getByRole('navigation', { name: texts.navigation }).getByText(texts.areas[area]).click(),
});
export type Hand = ReturnType<typeof handOf>;

/** What axe-core finds on the page (WCAG 2.2 AA and its best practices), as `rule: elements`. */
const axeFaults = async (page: Page): Promise<readonly string[]> => {
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run: () => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    const { violations } = await axe.run();
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  });
};

/** Whether the page is wider than its window, so that a person must scroll sideways. */
const isTooWide = (page: Page): Promise<boolean> =>
  page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);

/** What is wrong with the page on a bright desktop, and on a dark telephone. */
export const faultsInBothThemes = async (page: Page): Promise<readonly string[]> => {
  const faults: string[] = [];
  await page.evaluate(AXE);
  for (const [colorScheme, width] of [
    ['light', 1_280],
    ['dark', 320],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    faults.push(...(await axeFaults(page)).map((fault) => `${colorScheme}, ${fault}`));
    if (await isTooWide(page)) faults.push(`wider than ${width} pixels`);
  }
  return faults;
};
