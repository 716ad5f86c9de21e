import type { PortalLanguage } from '#workspaces/contracts/index.js';
import { en, type Texts } from './en.js';
import { fr } from './fr.js';

export type { Texts };

export const TEXTS: Readonly<Record<PortalLanguage, Texts>> = { fr, en };

/** What a key or a session may do. */
export const inWords = (texts: Texts, scopes: readonly string[]): string =>
  scopes.map((scope) => named(texts.scopes, scope)).join(', ');

/** The text of a name that may be newer than the catalogue, such as a code of the API. */
export const named = (texts: Readonly<Record<string, string>>, name: string, otherwise = name): string =>
  texts[name] ?? otherwise;
