import { randomUUID } from 'node:crypto';
import type { CommandBus, QueryBus } from '@nestjs/cqrs';
import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { SessionScope } from '#platform/auth/scopes.js';
import type { PortalSession } from '#workspaces/contracts/index.js';
import type { Texts } from '../texts/texts.js';
import type { Api, ApiProblem } from './api.js';
import type { Formats } from './formats.js';

/** What a person typed. */
export class Form {
  constructor(readonly values: URLSearchParams) {}

  /** Which of the page's actions it asks for. */
  get action(): string {
    return this.text('action');
  }

  /** Made with the form, so that sending it twice does its work once. */
  get key(): string {
    return this.text('key') || randomUUID();
  }

  /** Trimmed; empty when the field is absent. */
  text(name: string): string {
    return (this.values.get(name) ?? '').trim();
  }

  /** The values of check boxes. */
  all(name: string): readonly string[] {
    return this.values.getAll(name);
  }

  /** `undefined` for an empty field, which the API takes as not sent. */
  optional(name: string): string | undefined {
    return this.text(name) || undefined;
  }

  /** A whole number; `undefined` for an empty field. What is no number stays text, for the API to refuse. */
  number(name: string): number | string | undefined {
    const text = this.text(name);
    return text === '' ? undefined : /^-?\d{1,15}$/.test(text) ? Number(text) : text;
  }

  /** RFC 3339 of a `datetime-local` in UTC. What is none stays as it is, for the API to refuse. */
  instant(name: string): string | undefined {
    return instantOf(this.text(name)) || undefined;
  }

  /** The lines of a text area, without empty ones. */
  lines(name: string): readonly string[] {
    return this.text(name)
      .split(/[\r\n]+/)
      .map((line) => line.trim())
      .filter(Boolean);
  }
}

/** A browser gives minutes; the API takes RFC 3339. */
export const instantOf = (typed: string): string =>
  /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/.test(typed) ? `${typed}:00Z` : typed;

/** More than any form of the portal has. A page that shows a form again would be many times as long as a body of fields. */
const MOST_FIELDS = 100;
const MEDIA_TYPE = 'application/x-www-form-urlencoded';
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** @returns `null` for a body that no form of the portal sends */
export const readForm = (body: unknown, mediaType: string | undefined): Form | null => {
  if (mediaType?.split(';')[0]?.trim().toLowerCase() !== MEDIA_TYPE) return null;
  try {
    const values = new URLSearchParams(Buffer.isBuffer(body) ? utf8.decode(body) : '');
    return values.size > MOST_FIELDS ? null : new Form(values);
  } catch {
    return null;
  }
};

/** A request of a signed-in person, and what answers it. */
export interface Visit {
  readonly session: PortalSession;
  readonly api: Api;
  /** For what the API has no route for: queries and commands of contracts, with the session's workspace and mode. */
  readonly queries: Pick<QueryBus, 'execute'>;
  readonly commands: Pick<CommandBus, 'execute'>;
  readonly texts: Texts;
  readonly formats: Formats;
  /** The path of the page, with its parameters filled in, as `/portal/readings`. */
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly may: (scope: SessionScope) => boolean;
  /** Counts what the answer costs as so many requests of the policy `read`, before it is made. */
  readonly charge: (requests: number) => Promise<void>;
  /** The workspace and the mode of the session. What a form of another one asks for is not done here. */
  readonly place: string;
}

/** What a page shows inside the frame. */
export interface View {
  readonly title: string;
  readonly body: ComponentChildren;
  /** The browser loads the page again after so many seconds: for what is under way. */
  readonly refreshSeconds?: number | undefined;
}

/** Leads to another page, which shows the text of the catalogue's `done` once. */
export interface GoTo {
  readonly goTo: string;
  readonly done?: keyof Texts['done'];
}

/** Something to save or to look at: bytes, or parts of a text as they are made. */
export interface Download {
  readonly content: Buffer | AsyncIterable<string>;
  readonly mediaType: string;
  readonly fileName: string;
}

export type Answer = View | GoTo | Download;

/** An action or filters that the API refused: the page shows the form again, with what was typed. */
export interface Failed {
  readonly form: Form;
  readonly refused: ApiProblem;
}

/** The entries of the navigation. */
export type Area = keyof Texts['areas'];

export interface Page {
  /** Below `/portal`, in the syntax of Express. */
  readonly path: string;
  readonly area: Area;
  /** Without this scope, the page and its entry in the navigation do not exist for the session. */
  readonly needs?: SessionScope;
  readonly show: (visit: Visit, failed?: Failed) => Promise<Answer>;
  /** By the name that a `<PostForm>` sends. */
  readonly actions?: Readonly<Record<string, (visit: Visit, form: Form) => Promise<Answer>>>;
}

/** What the parts of a page know of a visit, whatever site it is to. */
export type Visited = Pick<Visit, 'texts' | 'formats' | 'path' | 'query'> & Partial<Pick<Visit, 'place'>>;

/** What the parts of a page share: the visit, and the form that was refused. */
export interface Shown {
  readonly visit: Visited;
  readonly failed?: Failed | undefined;
}

export const ShownContext = createContext<Shown | null>(null);

export const useShown = (): Shown => {
  const shown = useContext(ShownContext);
  if (!shown) throw new TypeError('This part belongs inside a page');
  return shown;
};

export const useVisit = (): Visited => useShown().visit;

/** The visit to a page of the portal, which knows more than that to another site. */
export const usePortal = (): Visit => useShown().visit as Visit;
